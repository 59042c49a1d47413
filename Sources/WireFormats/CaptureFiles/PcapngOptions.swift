/// The options at the end of a block (pcapng §3.5): code, length, value, padding to four bytes.
struct PcapngOptions {
    /// Options that any block may have.
    static let endOfOptions: UInt16 = 0
    static let comment: UInt16 = 1

    private let bytes: UnsafeRawBufferPointer
    private let isSwapped: Bool
    private var index = 0
    /// An option reaches beyond its block; it and what follows it is lost.
    private(set) var isOverrun = false

    init(_ bytes: UnsafeRawBufferPointer, swapped: Bool) {
        self.bytes = bytes
        isSwapped = swapped
    }

    /// The next option; nil at the end. The value is valid as long as the block.
    mutating func next() -> (code: UInt16, value: UnsafeRawBufferPointer)? {
        guard bytes.count - index >= 4 else { return nil }
        let code = bytes.loadInteger(UInt16.self, at: index, swapped: isSwapped)
        if code == Self.endOfOptions { return nil }
        let length = Int(bytes.loadInteger(UInt16.self, at: index + 2, swapped: isSwapped))
        guard length <= bytes.count - index - 4 else {
            isOverrun = true
            return nil
        }
        let value = UnsafeRawBufferPointer(rebasing: bytes[index + 4..<index + 4 + length])
        index += 4 + (length + 3) & ~3
        return (code, value)
    }

    /// A value as text: up to its first NUL (some writers count one in), ill-formed UTF-8 repaired.
    static func text(_ value: UnsafeRawBufferPointer) -> String {
        String(decoding: value.prefix { $0 != 0 }, as: UTF8.self)
    }

    /// A value as an integer; nil when it has another length.
    func integer<Value: FixedWidthInteger & BitwiseCopyable>(
        _ type: Value.Type, _ value: UnsafeRawBufferPointer
    ) -> Value? {
        guard value.count == MemoryLayout<Value>.size else { return nil }
        return value.loadInteger(type, at: 0, swapped: isSwapped)
    }
}
