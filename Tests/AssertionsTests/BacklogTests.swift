import SessionTrace
import Testing

@testable import Assertions

/// What is kept to be searched again is bounded, counting what it takes to keep it.
@Suite struct BacklogTests {
    private static func message(_ index: Int, bytes: Int) -> Backlog.Item {
        let time = PacketReference(number: index, time: Instant(nanoseconds: Int64(index)))
        let payload = Body(
            bytes: [UInt8](repeating: 0x61, count: bytes), length: bytes, missing: 0, isComplete: true, isCut: false)
        return .message(
            Message(
                exchange: ExchangeID(connection: ConnectionID(1), index: index), from: .client, kind: .text,
                payload: payload, started: time, ended: time, frames: 1), nil)
    }

    @Test func theOldestGoFirst() {
        var backlog = Backlog()
        backlog.limit = 1 << 20
        for index in 0..<20_000 { backlog.append(Self.message(index, bytes: 10)) }
        let kept = backlog.items(since: nil) ?? []
        #expect(kept.map(\.ended.nanoseconds) == Array(Int64(20_000 - kept.count)..<20_000))
        #expect(kept.count > 100 && kept.reduce(0) { $0 + $1.size } <= 1 << 20)
        #expect(kept.allSatisfy { $0.size >= MemoryLayout<Exchange>.stride })
    }

    @Test func whatIsTooLargeIsNotKept() {
        var backlog = Backlog()
        backlog.limit = 1 << 16
        backlog.append(Self.message(1, bytes: 10))
        backlog.append(Self.message(2, bytes: 1 << 16))
        let kept = backlog.items(since: nil)
        #expect(kept?.map(\.ended.nanoseconds) == [1])
    }

    @Test func onlyWhatIsRecentEnoughIsSearched() {
        var backlog = Backlog()
        for index in 0..<10 { backlog.append(Self.message(index, bytes: 10)) }
        let recent = backlog.items(since: Instant(nanoseconds: 8))
        #expect(recent?.count == 2)
    }
}
