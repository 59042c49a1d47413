import Testing

@testable import CommandLine

@Suite struct StartupCodeTests {
    @Test(
        arguments: [
            (
                "7f1000000000-7f1000001000 r-xp 00001000 fe:00 1234   /usr/lib/libssl.so.3",
                0x7f10_0000_0000..<0x7f10_0000_1000
            ),
            (
                "7f1000000000-7f1000001000 r-xp 00001000 fe:00 1234   /a path/with spaces",
                0x7f10_0000_0000..<0x7f10_0000_1000
            ),
            ("7f1000000000-7f1000001000 rw-p 00001000 fe:00 1234   /usr/lib/libssl.so.3", nil),
            ("7f1000000000-7f1000001000 r--p 00001000 fe:00 1234   /usr/lib/libssl.so.3", nil),
            (
                "7f1000000000-7f1000001000 r--p 00000000 fe:00 1234   /usr/lib/libssl.so.3",
                0x7f10_0000_0000..<0x7f10_0000_1000
            ),
            ("7f1000000000-7f1000001000 rw-p 00000000 fe:00 1234   /usr/lib/libssl.so.3", nil),
            ("7f1000000000-7f1000001000 r--p 00000000 00:00 0", nil),
            ("7f1000000000-7f1000001000 r--s 00000000 fe:00 1234   /usr/lib/locale/x", nil),
            ("7f1000000000-7f1000001000 rwxp 00001000 fe:00 1234   /usr/lib/libssl.so.3", nil),
            ("7f1000000000-7f1000001000 r-xp 00000000 00:00 0", nil),
            ("7ffd00000000-7ffd00002000 r-xp 00000000 00:00 0      [vdso]", nil),
            ("7f1000001000-7f1000001000 r-xp 00001000 fe:00 1234   /usr/lib/libssl.so.3", nil),
            ("7f1000000000-7f1000001000 r-xp 00000000 00:01 7      /memfd:code", nil), ("", nil),
            ("x-y r-xp 0 0 0 /a", nil),
        ] as [(String, Range<UInt>?)])
    func whatIsNeverWrittenAloneIsForgotten(line: String, range: Range<UInt>?) {
        #expect(StartupCode.range(of: line.utf8) == range)
    }

    /// Code that was forgotten runs on, read again where it is needed.
    @Test func forgottenCodeRunsOn() throws {
        for _ in 0..<3 {
            StartupCode.forget()
            guard case .whole(let bytes) = try FileSystem.readPlain("/proc/self/maps", limit: 16 << 20) else {
                Issue.record("no memory map")
                return
            }
            let maps = bytes.split(separator: 0x0A)
            #expect(maps.contains { StartupCode.range(of: $0) != nil })
        }
    }
}
