import SessionTrace
import Testing

@testable import CaptureAnalyzer

/// Byte strings built by hand from RFC 1928, RFC 1929 and the SOCKS4/4a memos.
@Suite struct SOCKSPreambleTests {
    struct Sample: CustomTestStringConvertible {
        var testDescription: String
        var client: [UInt8]
        var server: [UInt8]
        var expected: SOCKSPreamble.Progress
    }

    static func target(_ host: String, _ port: UInt16) throws -> ConnectionTarget {
        ConnectionTarget(host: try #require(HostName(host)), port: port)
    }

    static let name = Array("chia.health".utf8)

    static func samples() throws -> [Sample] {
        [
            Sample(
                testDescription: "SOCKS4 by address", client: [4, 1, 1, 0xBB, 192, 0, 2, 7, 0x61, 0],
                server: [0, 90, 0, 0, 0, 0, 0, 0],
                expected: .open(try target("192.0.2.7", 443), clientLength: 10, serverLength: 8)),
            Sample(
                testDescription: "SOCKS4a by name", client: [4, 1, 1, 0xBB, 0, 0, 0, 1, 0] + name + [0],
                server: [0, 90, 0, 0, 0, 0, 0, 0],
                expected: .open(try target("chia.health", 443), clientLength: 21, serverLength: 8)),
            Sample(
                testDescription: "SOCKS4 refused", client: [4, 1, 0, 80, 192, 0, 2, 7, 0],
                server: [0, 91, 0, 0, 0, 0, 0, 0], expected: .refused(try target("192.0.2.7", 80))),
            Sample(
                testDescription: "SOCKS5 by name", client: [5, 1, 0, 5, 1, 0, 3, 11] + name + [0, 80],
                server: [5, 0, 5, 0, 0, 1, 0, 0, 0, 0, 0, 0],
                expected: .open(try target("chia.health", 80), clientLength: 21, serverLength: 12)),
            Sample(
                testDescription: "SOCKS5 with a password",
                client: [5, 2, 0, 2, 1, 1, 0x75, 2, 0x70, 0x77, 5, 1, 0, 1, 192, 0, 2, 7, 1, 0xBB],
                server: [5, 2, 1, 0, 5, 0, 0, 1, 0, 0, 0, 0, 0, 0],
                expected: .open(try target("192.0.2.7", 443), clientLength: 20, serverLength: 14)),
            Sample(
                testDescription: "SOCKS5 to IPv6",
                client: [5, 1, 0, 5, 1, 0, 4, 0x20, 1, 0x0D, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0xBB],
                server: [5, 0, 5, 0, 0, 1, 0, 0, 0, 0, 0, 0],
                expected: .open(try target("2001:db8::1", 443), clientLength: 25, serverLength: 12)),
            Sample(
                testDescription: "SOCKS5 wants no method", client: [5, 1, 0], server: [5, 0xFF],
                expected: .refused(nil)),
            Sample(
                testDescription: "no SOCKS4 command", client: [4, 9, 0, 0, 0, 0, 0, 0, 0], server: [],
                expected: .notSOCKS),
        ]
    }

    @Test func readsPreamblesFedByteByByte() throws {
        for sample in try Self.samples() {
            for clientCount in 0...sample.client.count {
                for serverCount in 0...sample.server.count {
                    let progress = SOCKSPreamble.read(
                        client: Array(sample.client.prefix(clientCount)),
                        server: Array(sample.server.prefix(serverCount)))
                    let whole = clientCount == sample.client.count && serverCount == sample.server.count
                    #expect(
                        progress == sample.expected || (!whole && progress == .incomplete),
                        "\(sample.testDescription): \(clientCount), \(serverCount)")
                    if whole { #expect(progress == sample.expected, "\(sample.testDescription)") }
                }
            }
        }
    }

    @Test func givesUpBeyondItsLimit() {
        let endless = [4, 1, 0, 80, 192, 0, 2, 7] + [UInt8](repeating: 0x61, count: SOCKSPreamble.maximumLength)
        #expect(SOCKSPreamble.read(client: endless, server: []) == .notSOCKS)
    }
}
