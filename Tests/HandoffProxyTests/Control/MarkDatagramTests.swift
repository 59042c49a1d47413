import EventLoop
import Foundation
import SessionTrace
import Synchronization
import Testing

@testable import HandoffProxy

/// Marks as datagrams, sent by Python.
@Suite struct MarkDatagramTests {
    /// Sends `datagrams` one after another; prints what comes back, or `silence`.
    private static func send(_ datagrams: [String], to endpoint: Endpoint, patience: Double = 20) async throws
        -> [String]
    {
        let texts = datagrams.map { JSONValue.string($0).description }.joined(separator: ",")
        let script = """
            import socket
            s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            s.settimeout(\(patience))
            for text in [\(texts)]:
                s.sendto(text.encode(), ("127.0.0.1", \(endpoint.port)))
                try:
                    print(s.recv(4096).decode().strip())
                except TimeoutError:
                    print("silence")
            """
        return try await ControlTool.run("python3", ["-c", script]).split(separator: "\n").map(String.init)
    }

    @Test func aDatagramIsAMarkOnceAndIsAcknowledgedEachTime() async throws {
        try await ControlFixture.with { fixture async throws in
            let mark = #"handoff-mark/1 {"kind":"tap","target":"share","id":"7f3a"}"#
            let answers = try await Self.send([mark, mark, mark], to: fixture.marks)
            #expect(answers.count == 3)
            let values = try answers.map { try JSONValue.parse($0) }
            #expect(values.map { $0["sequence"]?.integerValue } == [1, 1, 1])
            #expect(values.map { $0["repeat"]?.boolValue } == [false, true, true])
            #expect(fixture.deeds.marks.withLock { $0.count } == 1)
            let bad = try await Self.send([#"handoff-mark/1 {"kind":7}"#], to: fixture.marks)
            #expect(bad == [#"{"error":"1:2: kind is a number, not a string"}"#])
        }
    }

    @Test func othersGetNoAnswer() async throws {
        try await ControlFixture.with { fixture async throws in
            let others = try await Self.send(["hello", "handoff-mark/2 {}"], to: fixture.marks, patience: 0.3)
            #expect(others == ["silence", "silence"])
            // One after the other: had they been answered, the answers would have come before this one's.
            let mark = try await Self.send([#"handoff-mark/1 {"kind":"end"}"#], to: fixture.marks)
            #expect(mark.count == 1 && mark[0].hasPrefix("{\"sequence\":1,"))
            #expect(fixture.deeds.marks.withLock { $0.map(\.kind) } == [.end])
        }
    }

    @Test func onlyAllowedClientsMark() throws {
        let plane = try ControlFixture.plane(ControlDeeds())
        let here = Endpoint(address: IPAddress(ipv4: 0xC0A8_0101), port: 4774)
        let text = Array(#"handoff-mark/1 {"kind":"end"}"#.utf8)
        func answer(_ address: UInt32) -> [UInt8]? {
            plane.answer(
                datagram: text,
                from: MarkIntake.Origin(
                    from: Endpoint(address: IPAddress(ipv4: address), port: 9), to: here,
                    arrival: Instant(nanoseconds: 1)))
        }
        #expect(answer(0xC0A8_0107) != nil)
        #expect(answer(0x0808_0808) == nil)
        let huge = text + [UInt8](repeating: 0x20, count: 70_000)
        let origin = MarkIntake.Origin(from: here, to: here, arrival: Instant(nanoseconds: 1))
        #expect(plane.answer(datagram: huge, from: origin) == nil)
    }
}
