import SessionTrace
import Testing

@testable import Assertions

/// Every request is logged in little memory, with what its body looks like.
@Suite struct RequestLogTests {
    private static func session(_ limit: Int = 50_000, _ story: (inout ScriptedSession) -> Void) -> Session {
        var scripted = ScriptedSession()
        story(&scripted)
        var options = JudgeOptions()
        options.limits.loggedRequests = limit
        var model = SessionModel(policy: Policy(), options: options)
        for event in scripted.events() { model.receive(event) }
        return model.finish()
    }

    private static func facts(_ body: String, type: String = "application/json") -> BodyFacts? {
        session {
            $0.exchange(.app, "POST", "https://a.example/x", at: 1, headers: [("content-type", type)], body: body)
        }.requests.requests.first?.body
    }

    @Test func requestsStandInOrderOfTimeWhoeverSentThem() {
        let session = Self.session {
            $0.exchange(.app, "GET", "https://a.example/slow", at: 1, took: 5)
            $0.browse("https://b.example/quick?secret=1", at: 2)
            $0.exchange(.nobody, "PUT", "https://c.example/x", at: 3)
        }
        #expect(session.requests.requests.map(\.method) == ["GET", "GET", "PUT"])
        #expect(session.requests.requests.map { String($0.path) } == ["/slow", "/quick", "/x"])
        #expect(session.requests.requests.map { $0.actor.actor } == [.app, .browser, .unknown])
        let two = ScriptedSession.instant(2)
        #expect(session.requests.requests(from: two, until: ScriptedSession.instant(3)).count == 1)
        #expect(session.requests.requests(from: two, until: .distantFuture).count == 2)
        let browsed = session.requests.requests[1]
        #expect(browsed.page?.isNavigation == true && browsed.page?.fetchDestination == "document")
        #expect(session.requests.requests[0].page == nil)
        #expect(browsed.queryNames == ["secret"])
        #expect(!browsed.subject(session.redactor).contains("secret=1"))
    }

    /// A capture's packets may be out of order: an answer stands before its request.
    @Test(arguments: [(40, 50, 60), (40, 40, 40), (40, 30, 20)])
    func theNumbersOfItsPacketsAreAsInTheCapture(started: Int, sent: Int, ended: Int) {
        func packet(_ number: Int, _ seconds: Double) -> PacketReference {
            PacketReference(number: number, time: ScriptedSession.instant(seconds))
        }
        let request = Request(
            method: "GET", target: "/", scheme: "https", authority: "a.example", fields: FieldSection(),
            body: Body(bytes: [], length: 0, missing: 0, isComplete: true, isCut: false), started: packet(started, 1),
            ended: packet(sent, 2))
        let exchange = Exchange(
            id: ExchangeID(connection: ConnectionID(7), index: 3), version: .http11, request: request, end: .complete,
            ended: packet(ended, 3))
        let circumstances = LoggedRequest.Circumstances(
            method: "GET", host: nil, client: nil, server: nil, actor: .nothing, page: nil)
        let logged = LoggedRequest(exchange, request, nil, circumstances: circumstances, content: nil)
        #expect(logged.id == exchange.id && logged.started == request.started)
        #expect(logged.requestEnded == request.ended && logged.ended == exchange.ended)
    }

    @Test func whatIsBeyondTheLimitIsCounted() {
        let session = Self.session(2) { scripted in
            for number in 0..<5 { scripted.exchange(.app, "GET", "https://a.example/\(number)", at: Double(number)) }
        }
        #expect(session.requests.requests.count == 2 && session.requests.uncounted == 3)
        #expect(session.givenUp.isEmpty, "rules that do not need it are not touched")
        var judgement = Judgement(NoStatusCall.description)
        session.doubtRequestLog(until: ScriptedSession.instant(1), &judgement)
        #expect(judgement.doubts.isEmpty)
        session.doubtRequestLog(&judgement)
        #expect(judgement.doubts.map(\.code) == ["request-log-full"])
    }

    @Test func whatRequestsHaveInCommonIsKeptOnce() {
        let session = Self.session { scripted in
            for number in 0..<100 {
                scripted.exchange(
                    .app, "POST", "https://a.example/a/long/path?number=\(number)", at: Double(number),
                    headers: [("content-type", "application/json")], body: "{\"aLongMemberName\":\(number)}")
                scripted.exchange(.app, "GET", "https://b.example/\(number)", at: Double(number) + 0.5)
            }
        }
        let requests = session.requests.requests
        #expect(requests.count == 200)
        #expect(Set(requests.map { ObjectIdentifier($0.circumstances) }).count == 2)
        #expect(Set(requests.map(\.host)).count == 2 && Set(requests.map(\.target)).count == 200)
        #expect(requests[0].client?.port != nil && requests[0].server?.port == 443 && requests[0].status == 200)
        #expect(Set(requests.map(\.body)).count == 101)
        let names = requests.filter { $0.method == "POST" }.map { $0.body.keys.withUnsafeBufferPointer(\.baseAddress) }
        #expect(Set(names).count == 1, "the list of names is kept once")
        // Fifty thousand of them stay within four and a half megabytes.
        #expect(MemoryLayout<LoggedRequest>.stride <= 88)
    }

    @Test func aLogIsPutInOrderFromTheFirstThatIsOutOfPlace() {
        let requests = Array(
            Self.session {
                for number in 0..<1_500 { $0.exchange(.app, "GET", "https://a.example/\(number)", at: Double(number)) }
            }.requests.requests)
        var log = RequestLog(limit: 5_000)
        for request in requests.dropLast(100) { log.append(request) }
        log.sort()
        #expect(log.requests.elementsEqual(requests.dropLast(100)))
        // What comes late and belongs before, within the last piece and far before it.
        for late in [requests[1_399], requests[3], requests[1_450], requests[700]] { log.append(late) }
        var copy = log
        copy.sort()
        #expect(log.requests.last == requests[700], "a copy that is put in order is another log")
        log.sort()
        let expected = (requests.dropLast(100) + [requests[1_399], requests[3], requests[1_450], requests[700]])
            .sorted { $0.started.time < $1.started.time }
        #expect(log.requests.elementsEqual(expected) && copy.requests.elementsEqual(expected))
        log.append(requests[1_499])
        log.sort()
        #expect(log.requests.count == 1_405 && log.requests.last == requests[1_499])
    }

    @Test func namesOfMembersAreKeptAtAnyDepth() {
        let facts = Self.facts(#"{"b":[{"a":"c:d","e\"f" : 1}],"a":null}"#)
        #expect(facts?.kind == .json && facts?.keys == ["a", "b", #"e\"f"#] && facts?.keysAreAll == true)
        #expect(Self.facts("x=1&y=&x=2", type: "application/x-www-form-urlencoded")?.keys == ["x", "y"])
        #expect(Self.facts("x=1&y=2", type: "")?.kind == .form)
        #expect(Self.facts(#"{"a":"b"#)?.keysAreAll == false)
        let many = "{" + (0..<200).map { "\"k\($0)\":1" }.joined(separator: ",") + "}"
        #expect(Self.facts(many)?.keysAreAll == false)
    }

    @Test func picturesFilmsAndReplaysAreTold() {
        let picture = String(repeating: "A", count: 2_000)
        #expect(Self.facts(#"{"shot":"/9j/4AAQ\#(picture)"}"#)?.kind == .image)
        #expect(Self.facts(#"{"shot":"/9j/4AAQ"}"#)?.kind == .json)
        #expect(Self.facts(#"{"shot":"data:video/mp4;base64,\#(picture)"}"#)?.kind == .video)
        #expect(Self.facts("x", type: "image/webp")?.kind == .image)
        #expect(Self.facts("GIF89a", type: "")?.kind == .image)
        #expect(
            Self.facts("--b\r\nContent-Type: image/png\r\n\r\nx\r\n--b--", type: "multipart/form-data; boundary=b")?
                .kind == .image)
        #expect(
            Self.facts("--b\r\nContent-Type: text/plain\r\n\r\nx\r\n--b--", type: "multipart/form-data; boundary=b")?
                .kind == .text)
        #expect(Self.facts(#"[{"type":2,"data":{"node":{"childNodes":[]}},"timestamp":1}]"#)?.kind == .replay)
        #expect(Self.facts(#"{"type":2,"data":{"node":{}},"timestamp":1}"#)?.kind == .json)
        #expect(Self.facts(#"{"event":"$snapshot"}"#)?.kind == .replay)
    }

    @Test func aBrowsersBodyIsNotLookedAt() {
        let session = Self.session { $0.exchange(.browser, "POST", "https://a.example/x", at: 1, body: #"{"a":1}"#) }
        let body = session.requests.requests.first?.body
        #expect(body?.bytes == 7 && body?.kind == .binary && body?.keys.isEmpty == true && body?.keysAreAll == false)
    }
}
