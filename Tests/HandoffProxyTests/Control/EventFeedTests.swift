import SessionTrace
import Testing

@testable import HandoffProxy

@Suite struct EventFeedTests {
    @Test func aReaderBehindIsToldWhatItMissed() {
        let feed = EventFeed()
        for number in 1...EventFeed.memoryLimit + 10 { feed.publish("note", .number("\(number)")) }
        let (events, missed) = feed.events(from: 1)
        #expect(missed + events.count == EventFeed.memoryLimit + 10)
        #expect(missed > 0 && events.first?.number == missed + 1)
        #expect(feed.events(from: feed.nextNumber).events.isEmpty)
        #expect(feed.events(from: feed.nextNumber + 100).events.isEmpty)
        #expect(feed.events(from: feed.nextNumber - 1).events.count == 1)
    }

    @Test func aLongEventIsLeftOut() {
        let feed = EventFeed()
        feed.publish("mark", .string(String(repeating: "a", count: EventFeed.textLimit - 2)))
        feed.publish("mark", .string(String(repeating: "a", count: EventFeed.textLimit - 1)))
        let texts = feed.events(from: 1).events.map(\.data)
        #expect(texts.first?.utf8.count == EventFeed.textLimit)
        #expect(texts.last == "{\"bytes-left-out\":4097}")
    }

    @Test func readersAreBounded() {
        let feed = EventFeed()
        let readers = (0..<EventFeed.readerLimit).compactMap { _ in feed.reader() }
        #expect(readers.count == EventFeed.readerLimit)
        #expect(feed.reader() == nil)
        feed.leave(readers[0].id)
        #expect(feed.reader() != nil)
    }

    @Test func readersAreWokenAndEnd() async {
        let feed = EventFeed()
        guard let reader = feed.reader() else {
            Issue.record("no reader")
            return
        }
        feed.publish("mark", .null)
        feed.publish("mark", .null)
        feed.finish()
        var count = 0
        for await _ in reader.wakeUps { count += 1 }
        #expect(count == 1, "two events wake a reader once")
        #expect(feed.events(from: 1).events.count == 2)
        #expect(feed.reader() == nil)
    }
}
