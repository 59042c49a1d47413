import SessionTrace
import Testing
import WireFormats

@Suite struct QUICConnectionObserverTests {
    private let packet = PacketReference(number: 7, time: Instant(nanoseconds: 1_000))

    private func play(_ datagrams: [(Side, [UInt8])]) -> [QUICOutput] {
        var observer = QUICConnectionObserver(connection: ConnectionID(3))
        var output: [QUICOutput] = []
        for (side, bytes) in datagrams {
            bytes.withUnsafeBytes { observer.receive($0, from: side, at: packet, into: &output) }
        }
        observer.finish(at: packet, into: &output)
        return output
    }

    private func hellos(_ output: [QUICOutput]) -> [ClientHello] {
        output.compactMap { if case .event(.clientHello(let hello)) = $0 { hello } else { nil } }
    }

    @Test func vectorsOfTheStandard() {
        let output = play([(.client, QUICVectors.clientInitial), (.server, QUICVectors.serverInitial)])
        let hello = hellos(output).first
        #expect(hello?.serverName == HostName("example.com"))
        #expect(hello?.applicationProtocols == ["alpn"])
        #expect(hello?.highestVersion == 0x0304)
        #expect(hello?.ja4.hasPrefix("q13d0211an_") == true)
        #expect(output.contains(.serverHello(packet)))
        // All of it could be read.
        #expect(!output.contains { if case .event(.blindSpot) = $0 { true } else { false } })
    }

    @Test func sidesTheWrongWayRound() {
        let output = play([(.server, QUICVectors.clientInitial), (.client, QUICVectors.serverInitial)])
        #expect(hellos(output).count == 1)
        #expect(output.contains(.serverHello(packet)))
    }

    @Test func aServersPacketAloneStaysClosed() {
        let output = play([(.server, QUICVectors.serverInitial)])
        guard case .event(.blindSpot(let spot))? = output.first else {
            Issue.record("expected a blind spot")
            return
        }
        #expect(spot.bytes == QUICVectors.serverInitial.count)
        #expect(spot.reason == .quic)
    }

    @Test func recognition() {
        let short: [UInt8] = [0x40] + [UInt8](repeating: 1, count: 40)
        let negotiation = unhex("c00000000008f067a5502a4262b5088394c8f03e515708 00000001 6b3343cf")
        let reserved = [0xC0, 0x1A, 0x2A, 0x3A, 0x4A, 8] + [UInt8](repeating: 7, count: 1_194)
        for (bytes, expected) in [
            (QUICVectors.clientInitial, true), (QUICVectors.serverInitial, true), (QUICVectors.retry, true),
            (negotiation, true), (reserved, true), (Array(reserved.prefix(600)), true), (short, false), ([], false),
            (Array("GET / HTTP/1.1\r\nHost: example.com\r\n".utf8), false),
        ] {
            #expect(bytes.withUnsafeBytes { QUICConnectionObserver.recognises($0) } == expected)
        }
    }

    /// Any change to a packet either leaves its outcome or closes it; nothing traps.
    @Test func damagedPacketsStayClosed() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<300 {
            var bytes = QUICVectors.clientInitial
            let index = Int.random(in: 0..<bytes.count, using: &generator)
            bytes[index] ^= UInt8.random(in: 1...255, using: &generator)
            #expect(hellos(play([(.client, bytes), (.server, QUICVectors.serverInitial)])).isEmpty)
            _ = play([(.client, Array(bytes.prefix(index))), (.server, Array(bytes.suffix(index)))])
        }
    }
}
