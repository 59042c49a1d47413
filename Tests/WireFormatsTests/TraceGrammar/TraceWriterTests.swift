import Foundation
import SessionTrace
import Testing
import WireFormats

@Suite struct TraceWriterTests {
    private static let golden = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Golden/trace.pcapng")

    private static func endpoint(_ address: String, _ port: UInt16) -> Endpoint {
        Endpoint(address: IPAddress(address) ?? IPAddress(ipv4: 0), port: port)
    }

    /// A trace with everything that the grammar has: IPv4 and IPv6, a piece of more than a frame, secrets, a mark, proxy
    /// events, both ways to end, a 4-tuple used twice, statistics.
    private static func trace() -> [UInt8] {
        var clock = Instant(rfc3339: "2026-11-29T12:00:00.000000001Z") ?? .distantPast
        func tick() -> Instant {
            clock = clock.advanced(byNanoseconds: 1_000_001)
            return clock
        }
        let device = endpoint("192.0.2.10", 50_000)
        let listener = endpoint("192.0.2.1", 4_773)
        var writer = TraceWriter(version: "0.0.0", started: clock)
        writer.mark(
            Mark(
                id: "m1", kind: .tap, target: .share, span: TimeSpan(clock), isOnTraceClock: true, source: .control,
                attributes: ["platform": "test"]),
            from: device, to: endpoint("192.0.2.1", TraceWriter.markPort), at: tick())

        let first = ConnectionID(0)
        writer.open(
            first, client: device, server: listener, at: tick(),
            events: [ProxyEvent(kind: .dialed, at: clock, attributes: ["host": "api.partner.example"])])
        writer.secrets(
            Array("CLIENT_RANDOM \(String(repeating: "00", count: 32)) \(String(repeating: "11", count: 48))\n".utf8))
        writer.send(
            Array("GET /a HTTP/1.1\r\nHost: api.partner.example\r\n\r\n".utf8), from: .client, on: first, at: tick())
        let body = [UInt8](repeating: UInt8(ascii: "b"), count: 100_000)
        let head = Array("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: \(body.count)\r\n\r\n".utf8)
        writer.send(head + body, from: .server, on: first, at: tick())
        writer.acknowledge(upTo: 50_000, on: first, at: tick())
        writer.acknowledge(upTo: 50_000, on: first, at: tick())  // no news, no frame
        writer.event(ProxyEvent(kind: .fault, at: clock, attributes: ["what": "delay"]), on: first, at: tick())
        writer.acknowledge(upTo: .max, on: first, at: tick())
        writer.finish(.server, on: first, at: tick())
        writer.acknowledge(upTo: .max, includingFinish: true, on: first, at: tick())
        writer.finish(.client, on: first, at: tick())
        writer.send([1, 2, 3], from: .client, on: first, at: tick())  // after the FIN: not written
        writer.acknowledge(upTo: .max, includingFinish: true, on: first, at: tick())
        writer.forget(first)

        let again = ConnectionID(1)
        writer.open(again, client: device, server: listener, at: tick())
        writer.send(Array("GET /b HTTP/1.1\r\n".utf8), from: .client, on: again, at: tick())
        writer.reset(.client, on: again, at: tick())
        writer.send([1], from: .server, on: again, at: tick())  // after the RST: not written

        let six = ConnectionID(2)
        writer.open(six, client: endpoint("2001:db8::10", 40_000), server: endpoint("2001:db8::1", 443), at: tick())
        writer.send(Array("odd".utf8), from: .client, on: six, at: tick())
        writer.finish(.client, on: six, at: tick())
        writer.finish(.server, on: six, at: tick())
        writer.acknowledge(upTo: .max, includingFinish: true, on: six, at: tick())
        writer.end(at: tick(), dropped: 2)
        return writer.takeBytes()
    }

    @Test("the golden file, byte by byte")
    func golden() throws {
        let bytes = Self.trace()
        if ProcessInfo.processInfo.environment["HANDOFF_REMAKE_GOLDEN"] != nil {
            try Data(bytes).write(to: Self.golden)
        }
        #expect(try Array(Data(contentsOf: Self.golden)) == bytes)
    }

    @Test("what our own reader finds in it")
    func records() throws {
        let reading = try CaptureReading(Self.trace())
        #expect(reading.isComplete && reading.notes.isEmpty)
        #expect(reading.packets.map(\.number) == Array(1...reading.packets.count))
        #expect(reading.packets.allSatisfy { $0.bytes.count <= 14 + 40 + TraceWriter.framePayloadLimit })
        guard case .section(let section) = reading.records.first, case .interface(let interface) = reading.records[1],
            case .statistics(let statistics) = reading.records.last
        else {
            Issue.record("\(reading.records.count) records")
            return
        }
        #expect(section.userApplication == "handoff/0.0.0")
        #expect(interface.name == "handoff-proxy" && interface.snapLength == 262_144)
        #expect(interface.resolution == .nanoseconds && interface.linkType == .ethernet)
        #expect(statistics.droppedByInterface == 2)
        #expect(statistics.received == UInt64(reading.packets.count) + 2)

        let readings = reading.packets.flatMap { packet in
            packet.comments.compactMap {
                TraceText.read(comment: $0, on: PacketReference(number: packet.number, time: packet.time))
            }
        }
        #expect(readings.count == 3)
        let kinds = readings.map { reading in
            switch reading {
            case .mark(let read): read.mark.kind.rawValue
            case .event(let event): event.kind.rawValue
            case .unreadable(let reason): reason
            }
        }
        #expect(kinds == ["tap", "dialed", "fault"])
        // The mark's datagram holds the same text as its comment: Ethernet, IPv4 and UDP headers before it.
        #expect(reading.packets[0].bytes.dropFirst(42).elementsEqual(reading.packets[0].comments[0].utf8))
    }

    @Test("secrets come before the frames that follow them")
    func order() throws {
        let records = try CaptureReading(Self.trace()).records
        let secrets = records.firstIndex { if case .secrets = $0 { true } else { false } }
        let request = records.firstIndex {
            if case .packet(let packet) = $0 { packet.bytes.suffix(4) == [13, 10, 13, 10] } else { false }
        }
        #expect(secrets != nil && request != nil && (secrets ?? 0) < (request ?? 0))
    }

    @Test("tshark reads it without a malformed or lost segment", .enabled(if: Tshark.path != nil, "no tshark here"))
    func tshark() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("trace-\(UUID().uuidString).pcapng")
        try Data(Self.trace()).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let checksums = [
            "-o", "tcp.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE",
        ]
        let bad =
            "_ws.malformed || tcp.analysis.lost_segment || tcp.analysis.ack_lost_segment || tcp.analysis.retransmission"
            + " || tcp.analysis.out_of_order || tcp.checksum.status == 0 || udp.checksum.status == 0"
            + " || ip.checksum.status == 0 || tcp.analysis.window_full"
        #expect(try Tshark.run(["-n", "-r", file.path] + checksums + ["-Y", bad]) == [])
        let frames = try Tshark.run([
            "-n", "-r", file.path, "-T", "fields", "-e", "tcp.stream", "-e", "http.request.uri",
        ])
        #expect(frames.contains("0\t/a"))
        #expect(Set(frames.map { $0.prefix { $0 != "\t" } }) == ["", "0", "1", "2"])
        let bodies = try Tshark.run(
            [
                "-n", "-r", file.path, "-d", "tcp.port==4773,http", "-Y", "http.response", "-T", "fields", "-e",
                "http.content_length_header",
            ])
        #expect(bodies == ["100000"])
    }
}

/// tshark, where it is installed.
enum Tshark {
    static let path = ["/usr/bin/tshark", "/usr/local/bin/tshark", "/opt/homebrew/bin/tshark"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    /// Runs it and gives its lines on standard output.
    static func run(_ arguments: [String]) throws -> [String] {
        guard let path else { return [] }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
    }
}
