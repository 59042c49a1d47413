import SessionTrace
import Testing

@testable import CaptureAnalyzer

/// Whether responses reached the device, told from its acknowledgements.
@Suite struct DeliveryTrackerTests {
    private let connection = ConnectionID(3)

    private func exchange(_ index: Int) -> ExchangeID { ExchangeID(connection: connection, index: index) }

    private func packet(_ number: Int) -> PacketReference {
        PacketReference(number: number, time: Instant(nanoseconds: Int64(number)))
    }

    private func end(_ cause: ConnectionEnd.Cause) -> ConnectionEnd {
        ConnectionEnd(id: connection, cause: cause, last: packet(99), clientBytes: 0, serverBytes: 0)
    }

    @Test func acknowledgedBehindTheResponseIsDelivered() {
        var tracker = DeliveryTracker()
        tracker.received(upTo: 500)
        #expect(tracker.responded(exchange(0), at: packet(1)) == nil)
        #expect(tracker.acknowledged(upTo: 499, at: packet(2)).isEmpty)
        #expect(tracker.acknowledged(upTo: 500, at: packet(3)) == [.delivery(exchange(0), .yes, packet(3))])
    }

    /// Captures are out of order: the acknowledgement may be there before the bytes.
    @Test func acknowledgedBeforeItWasReadIsDeliveredAtOnce() {
        var tracker = DeliveryTracker()
        #expect(tracker.acknowledged(upTo: 800, at: packet(1)).isEmpty)
        tracker.received(upTo: 500)
        #expect(tracker.responded(exchange(0), at: packet(2)) == .delivery(exchange(0), .yes, packet(2)))
    }

    @Test func oneAcknowledgementDeliversAllBeforeIt() {
        var tracker = DeliveryTracker()
        for (index, offset) in [UInt64(100), 200, 300].enumerated() {
            tracker.received(upTo: offset)
            #expect(tracker.responded(exchange(index), at: packet(index)) == nil)
        }
        #expect(
            tracker.acknowledged(upTo: 200, at: packet(9)) == [
                .delivery(exchange(0), .yes, packet(9)), .delivery(exchange(1), .yes, packet(9)),
            ])
        #expect(tracker.closed(end(.reset(by: .client))) == [.delivery(exchange(2), .no, packet(99))])
    }

    @Test(arguments: [
        (ConnectionEnd.Cause.finished, true, Delivery.no), (.reset(by: .server), true, .no),
        (.traceEnded, true, .unknown), (.idle, true, .unknown),
        (.finished, false, .unknown), (.reset(by: .client), false, .unknown),
    ])
    func notAcknowledgedByTheEnd(cause: ConnectionEnd.Cause, deviceIsSeen: Bool, expected: Delivery) {
        var tracker = DeliveryTracker()
        if deviceIsSeen { _ = tracker.acknowledged(upTo: 10, at: packet(1)) }
        tracker.received(upTo: 500)
        #expect(tracker.responded(exchange(0), at: packet(2)) == nil)
        #expect(tracker.closed(end(cause)) == [.delivery(exchange(0), expected, packet(99))])
        #expect(tracker.closed(end(cause)).isEmpty, "told once")
    }

    /// A proxy that asks its kernel now and then may have missed the last word before a reset; a capture has seen it.
    @Test(arguments: [
        (ConnectionEnd.Cause.reset(by: .client), Delivery.unknown), (.reset(by: .server), .unknown), (.finished, .no),
    ])
    func aResetHidesTheLastAcknowledgementThatWasPolled(cause: ConnectionEnd.Cause, expected: Delivery) {
        var tracker = DeliveryTracker()
        _ = tracker.acknowledged(upTo: 10, at: packet(1))
        tracker.received(upTo: 500)
        #expect(tracker.responded(exchange(0), at: packet(2)) == nil)
        #expect(tracker.closed(end(cause), isPolled: true) == [.delivery(exchange(0), expected, packet(99))])
    }
}
