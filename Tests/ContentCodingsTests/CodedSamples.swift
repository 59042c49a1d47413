/// One text under every coding, made with gzip 1.12, zlib 1.2.13, brotli 1.0.9 and zstd 1.5.4.
enum CodedSamples {
    static let text = Array(
        String(repeating: "The quick brown fox jumps over the lazy dog. ", count: 20).utf8)
    static let gzip = hex(
        "1f8b08000000000002030bc94855282ccd4cce56482aca2fcf5348cbaf50c82acd2d2856c82f4b2d5228014ae72456552aa4e4a7eb29848c"
            + "2a1e553caa98da8a01e64a66b084030000")
    static let zlib = hex(
        "78da0bc94855282ccd4cce56482aca2fcf5348cbaf50c82acd2d2856c82f4b2d5228014ae72456552aa4e4a7eb29848c2a1e553caa98da8a"
            + "0147a5431c")
    static let raw = hex(
        "0bc94855282ccd4cce56482aca2fcf5348cbaf50c82acd2d2856c82f4b2d5228014ae72456552aa4e4a7eb29848c2a1e553caa98da8a01"
    )
    static let brotli = hex(
        "1f83030044db46a92e245b3214c553916772f2e72850159857b6b259d06ce195a723f2a2ac3626b8451f18276275ff21301900")
    static let zstd = hex(
        "28b52ffd0460b50100d40254686520717569636b2062726f776e20666f78206a756d7073206f76657220746865206c617a7920646f672e20"
            + "0100a50a2b55065913fa85")
    /// 64 MiB of zeros, `brotli -q 11 -w 24`.
    static let brotliZeros = hex(
        "cfffff7ff82700e2b14020f7fe9ffffffff04f00c4610180eefd3fffffffe19f0088c32200ddfb7ffeffffc33f0110870500baf7ff03")
    /// A skippable frame of three bytes.
    static let zstdSkippable: [UInt8] = [0x5A, 0x2A, 0x4D, 0x18, 3, 0, 0, 0, 1, 2, 3]

    static func coded(_ coding: String) -> [UInt8] {
        switch coding {
        case "gzip": gzip
        case "zlib": zlib
        case "raw": raw
        case "br": brotli
        default: zstd
        }
    }

    static func hex(_ text: String) -> [UInt8] {
        let digits = text.utf8.map { UInt8($0 < 0x60 ? $0 - 0x30 : $0 - 0x57) }
        return stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}
