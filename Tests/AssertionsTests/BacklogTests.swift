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
        let kept = backlog.items(since: nil).map(Array.init) ?? []
        #expect(kept.map(\.ended.nanoseconds) == Array(Int64(20_000 - kept.count)..<20_000))
        #expect(kept.count > 100 && kept.reduce(0) { $0 + $1.size } <= 1 << 20)
        #expect(kept.allSatisfy { $0.size >= MemoryLayout<Exchange>.stride })
    }

    @Test func whatIsTooLargeIsNotKept() {
        var backlog = Backlog()
        backlog.limit = 1 << 16
        backlog.append(Self.message(1, bytes: 10))
        backlog.append(Self.message(2, bytes: 1 << 16))
        let kept = backlog.items(since: nil).map(Array.init)
        #expect(kept?.map(\.ended.nanoseconds) == [1])
    }

    @Test func whatIsGoneIsKnownByItsEnd() {
        var backlog = Backlog()
        backlog.limit = 1 << 16
        backlog.append(Self.message(1, bytes: 10))
        #expect(!backlog.lacksItems(since: Instant(nanoseconds: 0)))
        backlog.append(Self.message(5, bytes: 1 << 16))
        backlog.append(Self.message(7, bytes: 10))
        #expect(backlog.lacksItems(since: Instant(nanoseconds: 5)))
        #expect(!backlog.lacksItems(since: Instant(nanoseconds: 6)))
        for index in 8..<1_000 { backlog.append(Self.message(index, bytes: 10)) }
        let oldest = backlog.items(since: nil)?.first?.ended.nanoseconds ?? 0
        #expect(backlog.lacksItems(since: Instant(nanoseconds: oldest - 1)))
        #expect(!backlog.lacksItems(since: Instant(nanoseconds: oldest)))
    }

    @Test func whatEndedBeforeIsGivenByItself() {
        var backlog = Backlog()
        backlog.limit = 1 << 16
        for index in [3, 5, 7] { backlog.append(Self.message(index, bytes: 10)) }
        let earlier = backlog.items(before: Instant(nanoseconds: 5)).map(Array.init)
        #expect(earlier?.map(\.ended.nanoseconds) == [3])
        #expect(!backlog.lacksItems(before: .distantFuture))
        for index in [9, 4] { backlog.append(Self.message(index, bytes: 1 << 16)) }
        #expect(!backlog.lacksItems(before: Instant(nanoseconds: 4)))
        #expect(backlog.lacksItems(before: Instant(nanoseconds: 5)))
    }

    /// What one kind of search may cost takes nothing from the other.
    @Test func searchesOfWhatWasBeforeAreBoundedByThemselves() {
        var backlog = Backlog()
        backlog.append(Self.message(1, bytes: 1 << 20))
        var searches = 0
        while searches < 100, backlog.items(before: .distantFuture) != nil { searches += 1 }
        #expect(searches == 64)
        #expect(backlog.items(since: nil) != nil)
    }

    /// A leak and an answer with the URL that both end after the session response, but come before it: seen while they are
    /// kept, and otherwise a doubt.
    @Test(arguments: [8 << 20, 1]) func whatIsGoneTooSoonIsADoubt(bytes: Int) throws {
        // Too short to be known by its shape.
        let short = "https://chia.health/h/phs_Zk3Tq8WvX2mN"
        var session = ScriptedSession.upToTap()
        session.options.limits.backlogBytes = bytes
        session.tap(.share, at: 4)
        let initiating = session.share(at: 4.1, url: short)
        session.exchange(
            .app, "POST", "https://app-measurement.com/a", at: 4.5, body: "u=\(short)", response: "ok")
        session.exchange(
            .app, "GET", "https://api.partner.example/config", at: 5, response: #"{"u":"\#(short)"}"#)
        session.mark(.end, at: 80)
        var events = session.events()
        let place = try #require(
            events.firstIndex { event in
                if case .exchange(let exchange) = event { exchange.id == initiating } else { false }
            })
        let late = events.remove(at: place)
        let end = try #require(events.lastIndex { if case .exchange = $0 { true } else { false } })
        events.insert(late, at: end + 1)
        let verdict = try session.judge(events)
        #expect(verdict["HR-46"].verdict == (bytes == 1 ? .inconclusive : .fail), "\(verdict["HR-46"])")
        #expect(verdict["HR-36"].verdict == (bytes == 1 ? .inconclusive : .fail), "\(verdict["HR-36"])")
    }

    /// A token that only the browser's request shows may be older than anything that is kept.
    @Test(arguments: [8 << 20, 1]) func aTokenFirstSeenInTheBrowser(bytes: Int) throws {
        // Too short to be known by its shape.
        let short = "https://chia.health/h/phs_Zk3Tq8WvX2mN"
        var session = ScriptedSession.upToTap()
        session.options.limits.backlogBytes = bytes
        session.tap(.share, at: 4)
        session.exchange(.app, "POST", "https://app-measurement.com/a", at: 4.5, body: "u=\(short)", response: "ok")
        session.browse(short, at: 6)
        session.mark(.end, at: 80)
        let verdict = try session.judge()
        #expect(verdict["HR-46"].verdict == (bytes == 1 ? .inconclusive : .fail), "\(verdict["HR-46"])")
        if bytes == 1 { #expect(verdict["HR-46"].reason?.code == "state-given-up", "\(verdict["HR-46"])") }
    }

    /// A crafted value is needed from the return on, as early as the hand-made mark may mean.
    @Test(arguments: [(sent: 49.0, isDoubt: true), (40, false)]) func aCraftedValue(sent: Double, isDoubt: Bool) throws
    {
        var session = ScriptedSession.upToTap()
        session.options.limits.backlogBytes = 2_000
        session.exchange(
            .app, "POST", "https://api.partner.example/e", at: sent,
            body: "v=canary-81c2f0aa" + String(repeating: "x", count: 3_000))
        session.mark(.return, at: 50, by: .person, attributes: ["ref": "canary-81c2f0aa"])
        session.mark(.end, at: 100)
        let result = try session.judge()["HR-63"]
        #expect(result.verdict == (isDoubt ? .inconclusive : .pass), "\(result)")
    }

    @Test func onlyWhatIsRecentEnoughIsSearched() {
        var backlog = Backlog()
        for index in 0..<10 { backlog.append(Self.message(index, bytes: 10)) }
        let recent = backlog.items(since: Instant(nanoseconds: 8)).map(Array.init)
        #expect(recent?.count == 2)
    }

    /// Plays a session and gives what its model keeps of requests and of answers.
    private static func kept(_ story: (inout ScriptedSession) -> Void) -> (questions: [KeptFlow], answers: [KeptFlow]) {
        var scripted = ScriptedSession()
        story(&scripted)
        var model = SessionModel(policy: Policy(), options: JudgeOptions())
        for event in scripted.events() { model.receive(event) }
        func flows(_ backlog: inout Backlog) -> [KeptFlow] {
            let items = backlog.items(since: nil).map(Array.init) ?? []
            return items.compactMap { item in
                switch item {
                case .exchange(_, let flow), .message(_, let flow), .answer(_, let flow): flow
                }
            }
        }
        return (flows(&model.backlog), flows(&model.answerBacklog))
    }

    @Test func messagesOnOneConnectionShareIt() {
        let kept = Self.kept { scripted in
            for number in 0..<50 { scripted.exchange(.app, "GET", "https://a.example/\(number)", at: Double(number)) }
            scripted.exchange(.browser, "GET", "https://b.example/", at: 60)
        }
        #expect(kept.questions.count == 51 && kept.answers.count == 50)
        #expect(Set((kept.questions + kept.answers).map { ObjectIdentifier($0) }).count == 2)
        #expect(kept.questions.first?.flow.names.first?.text == "a.example")
        #expect(kept.questions.last?.flow.names.first?.text == "b.example")
        #expect(kept.questions.last?.flow.actor.actor == .browser)
    }

    @Test func aConnectionThatChangedIsKeptAgain() {
        let app = ProcessIdentity(source: .pktap, name: "Shop")
        let kept = Self.kept { scripted in
            let id = scripted.exchange(.nobody, "GET", "https://a.example/1", at: 1)
            scripted.add(2, .processIdentified(id.connection, app))
            scripted.exchange(.nobody, "GET", "https://a.example/2", at: 3)
            scripted.exchange(.nobody, "GET", "https://a.example/3", at: 4)
        }
        #expect(kept.questions.map { $0.flow.connection.process } == [nil, app, app])
        #expect(Set(kept.questions.map { ObjectIdentifier($0) }).count == 2)
    }

    @Test(arguments: [true, false]) func anExchangeComesBackAsItWas(isPlain: Bool) throws {
        var fields = FieldSection()
        fields.append(":authority", "shop.example:8443")
        fields.append(name: Array("x-odd".utf8), value: [0xFF, 0x00, 0x80], isKnown: false)
        fields.append("accept", "")
        let time = PacketReference(number: 70_000, time: Instant(nanoseconds: 1_795_000_000_123_456_789))
        let body = Body(bytes: Array(0...255) + [0], length: 1 << 40, missing: 3, isComplete: false, isCut: true)
        let request = Request(
            method: "POST", target: "/päth?q=1", scheme: "https", authority: "shop.example:8443", fields: fields,
            body: body, started: time, ended: PacketReference(number: 0, time: Instant(nanoseconds: -1)))
        let response = Response(
            status: 204, reason: "No Content", fields: fields, body: body, started: time, ended: time)
        let exchange = Exchange(
            id: ExchangeID(connection: ConnectionID(.max), index: 12), version: .http2, streamID: .max,
            request: request, response: isPlain ? nil : response, end: .complete, ended: time, isPushed: !isPlain)
        var backlog = Backlog()
        backlog.append(.answer(exchange, nil))
        #expect(PackedExchange(exchange)?.exchange == exchange)
        var broken = exchange
        broken.end = .reset(by: .server, code: 8)
        backlog.append(.exchange(broken, nil))
        var odd = exchange
        odd.request?.trailers = fields
        odd.informational = [response]
        odd.anomalies = [.unexpectedResponse]
        backlog.append(.exchange(odd, nil))
        let kept = (backlog.items(since: nil).map(Array.init) ?? []).compactMap { item -> Exchange? in
            switch item {
            case .exchange(let exchange, _), .answer(let exchange, _): exchange
            case .message: nil
            }
        }
        #expect(kept == [exchange, broken, odd])
    }
}
