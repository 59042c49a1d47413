import SessionTrace
import Testing
import WireFormats

/// What a client sent behind a hole is told late, when its answers are there already.
@Suite("HTTP/1 requests that are told late")
struct HTTP1LateRequestTests {
    private typealias Hole = HTTP1HoleTests

    @Test("each has the first answer that began no earlier", arguments: [(5, true), (6, true), (7, false)])
    func eachHasItsOwn(started: Int, isAnswered: Bool) {
        let told = ConversationScript.lines(of: [
            (Hole.get("a"), 1), (Hole.ok("A"), 2), (Hole.ok("X"), 4), (Hole.ok("B"), 6), (.hole(.client, 50), 9),
            (Hole.get("b"), started), (.closed(.traceEnded), 10),
        ])
        let alone = "exchange 1 no request 200 [X] 4-4 complete !unexpected"
        #expect(
            told.dropFirst(2)
                == (isAnswered
                    ? [
                        alone, "start 2 HTTP/1.1 GET /b h",
                        "exchange 2 GET /b [] \(started)-\(started) 200 [B] 6-6 complete",
                    ]
                    : [
                        alone, "exchange 2 no request 200 [B] 6-6 complete !unexpected", "start 3 HTTP/1.1 GET /b h",
                        "exchange 3 GET /b [] 7-7 no response trace ended",
                    ]))
    }

    @Test("an answer that is still being read waits too")
    func anAnswerUnderWay() {
        let told = ConversationScript.lines(of: [
            (.server("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nhe"), 4), (.hole(.client, 50), 5), (Hole.get("b"), 3),
            (.server("lo"), 6),
        ])
        #expect(told == ["start 0 HTTP/1.1 GET /b h", "exchange 0 GET /b [] 3-3 200 [helo] 4-6 complete"])
    }

    @Test("a request of which a part is missing was answered, but not seen whole")
    func aCutRequest() {
        let told = ConversationScript.lines(of: [
            (Hole.ok("B"), 4), (.client("POST /b HTTP/1.1\r\nHost: h\r\nContent-Le"), 3), (.hole(.client, 400), 5),
        ])
        #expect(
            told == [
                "start 0 HTTP/1.1 POST /b h",
                "exchange 0 POST /b []… 3-5 200 [B] 4-4 not seen !head: cut by a hole in the capture",
            ])
    }

    @Test("no more wait than there is room for")
    func limit() {
        var limits = ConversationLimits()
        limits.waitingResponses = 1
        let answers: [(step: ConversationScript.Step, packet: Int)] = [(Hole.ok("A"), 4), (Hole.ok("B"), 6)]
        let alone = "exchange 0 no request 200 [A] 4-4 complete !unexpected"
        #expect(ConversationScript.lines(limits: limits, of: answers) == [alone])
        limits.waitingResponses = 2
        #expect(ConversationScript.lines(limits: limits, of: answers) == [])
        limits.openBytes = 2
        #expect(ConversationScript.lines(limits: limits, of: answers) == [])
        limits.openBytes = 1
        #expect(ConversationScript.lines(limits: limits, of: answers) == [alone])
    }
}
