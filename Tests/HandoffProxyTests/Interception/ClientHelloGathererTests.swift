import SessionTrace
import Testing
import WireFormats

@testable import HandoffProxy

@Suite struct ClientHelloGathererTests {
    /// A ClientHello message with a server name, an ALPN list and `padding` bytes of a padding extension, in records of
    /// at most `recordSize` bytes of payload.
    static func hello(
        name: String = "api.partner.example", alpn: [UInt8] = [2, 0x68, 0x32], padding: Int = 0,
        version: UInt16 = 0x0303, recordSize: Int = 16_384
    ) -> [UInt8] {
        func u16(_ value: Int) -> [UInt8] { [UInt8(value >> 8 & 0xFF), UInt8(value & 0xFF)] }
        var extensions: [UInt8] = []
        let host = Array(name.utf8)
        extensions += u16(0) + u16(host.count + 5) + u16(host.count + 3) + [0] + u16(host.count) + host
        extensions += u16(16) + u16(alpn.count + 2) + u16(alpn.count) + alpn
        if padding > 0 { extensions += u16(21) + u16(padding) + [UInt8](repeating: 0, count: padding) }
        var body = u16(Int(version)) + [UInt8](repeating: 7, count: 32) + [0] + u16(2) + u16(0x1301) + [1, 0]
        body += u16(extensions.count) + extensions
        let message = [1, UInt8(body.count >> 16)] + u16(body.count & 0xFFFF) + body
        var records: [UInt8] = []
        var rest = message[...]
        while !rest.isEmpty {
            let part = rest.prefix(recordSize)
            records += [22, 3, 1] + u16(part.count) + part
            rest = rest.dropFirst(part.count)
        }
        return records
    }

    static func gather(_ bytes: [UInt8], pieces: Int = .max) -> ClientHelloGatherer {
        var gatherer = ClientHelloGatherer()
        var rest = bytes[...]
        while !rest.isEmpty {
            Array(rest.prefix(pieces)).withUnsafeBytes { _ = gatherer.take($0) }
            rest = rest.dropFirst(pieces)
        }
        return gatherer
    }

    @Test(arguments: [1, 2, 5, 100, .max])
    func aHelloComesWholeHoweverItIsCut(pieces: Int) throws {
        let bytes = Self.hello(padding: 1_700, recordSize: 300)
        let gatherer = Self.gather(bytes, pieces: pieces)
        guard case .hello(let hello) = gatherer.progress else {
            Issue.record("\(gatherer.progress)")
            return
        }
        #expect(hello.serverName?.text == "api.partner.example")
        #expect(hello.applicationProtocolList == [2, 0x68, 0x32])
        #expect(gatherer.bytes == bytes)
    }

    @Test func bytesAfterTheHelloAreKept() {
        let bytes = Self.hello() + [23, 3, 3, 0, 1, 9]
        #expect(Self.gather(bytes).bytes == bytes)
        #expect(Self.gather(bytes, pieces: 7).bytes == bytes)
    }

    @Test func anUnfinishedHelloNeedsMore() {
        let bytes = Self.hello()
        for count in 1..<bytes.count {
            #expect(Self.gather(Array(bytes[..<count])).progress == .needsInput, "\(count)")
        }
    }

    @Test(arguments: [1, 3, .max])
    func otherBytesAreNoHello(pieces: Int) {
        let alert: [UInt8] = [21, 3, 1, 0, 2, 2, 40]
        #expect(Self.gather(alert, pieces: pieces).progress == .unreadable(.notTLS))
        #expect(Self.gather([22, 9, 9, 9, 9, 9, 9], pieces: pieces).progress == .unreadable(.notTLS))
        let serverHello: [UInt8] = [22, 3, 3, 0, 6, 2, 0, 0, 2, 3, 3]
        #expect(Self.gather(serverHello, pieces: pieces).progress == .unreadable(.notTLS))
        let malformed: [UInt8] = [22, 3, 3, 0, 6, 1, 0, 0, 2, 3, 3]
        #expect(Self.gather(malformed, pieces: pieces).progress == .unreadable(.malformed))
    }

    @Test func aHelloOfSSL3IsLeftAlone() {
        #expect(Self.gather(Self.hello(version: 0x0300)).progress == .unreadable(.tooOld))
    }

    @Test func aHelloOverTheLimitIsUnreadable() {
        // Two padding extensions would be malformed for some, so one of the greatest length and small records.
        let bytes = Self.hello(padding: 65_400, recordSize: 1_000)
        #expect(bytes.count > ClientHelloGatherer.byteLimit)
        #expect(Self.gather(bytes, pieces: 500).progress == .unreadable(.tooLong))
        let long: [UInt8] = [22, 3, 1, 64, 0, 1, 0xFF, 0xFF, 0xFF]
        #expect(
            Self.gather(long + [UInt8](repeating: 0, count: 70_000), pieces: 9_000).progress != .needsInput)
    }

    @Test func aHelloJustUnderTheLimitIsRead() {
        let bytes = Self.hello(padding: 60_000)
        #expect(bytes.count < ClientHelloGatherer.byteLimit)
        guard case .hello = Self.gather(bytes, pieces: 1_400).progress else {
            Issue.record("not read")
            return
        }
    }
}
