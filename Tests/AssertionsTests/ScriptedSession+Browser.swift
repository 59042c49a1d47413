import Assertions
import SessionTrace

/// Browsers, web views and what they send: for the rules about openings.
extension ScriptedSession {
    static let safari =
        "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1"
    static let chromeOnIOS =
        "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/140.0.0.0 Mobile/15E148 Safari/604.1"
    static let firefox = "Mozilla/5.0 (Android 15; Mobile; rv:140.0) Gecko/140.0 Firefox/140.0"
    static let webView =
        "Mozilla/5.0 (Linux; Android 15; Pixel 8; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/140.0 Mobile Safari/537.36"
    static let iOSWebView =
        "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148"
    /// JA4 of OkHttp on Android.
    static let okHttpJA4 = "t13d1513h2_8daaf6152771_eca864cca44a"

    /// Up to a share tap and its answer, and a minute after whatever `build` adds.
    static func shared(_ build: (inout ScriptedSession) -> Void) -> ScriptedSession {
        var session = upToTap()
        session.tap(.share, at: 4)
        session.share(at: 4.1)
        build(&session)
        session.mark(.end, at: 90)
        return session
    }

    /// Up to a tap on the neutral action.
    static func goneNeutral(_ build: (inout ScriptedSession) -> Void) -> ScriptedSession {
        var session = upToTap()
        session.tap(.neutral, at: 4)
        build(&session)
        session.mark(.end, at: 90)
        return session
    }

    /// The events with the JA4 of every ClientHello to `host` (or to all hosts) replaced.
    func events(ja4: String, of host: String? = nil) -> [SessionEvent] {
        events().map { event in
            guard case .clientHello(var hello) = event, host == nil || hello.serverName?.text == host else {
                return event
            }
            hello.ja4 = ja4
            return .clientHello(hello)
        }
    }

    /// The events with an activity start at some second before all others.
    func events(
        starting component: String, at time: Double, action: String? = "android.intent.action.VIEW",
        host: String? = "chia.health"
    ) -> [SessionEvent] {
        let start = ActivityStart(
            span: TimeSpan(Self.instant(time)), component: component, action: action,
            host: host.flatMap { HostName($0) }, origin: "actors.jsonl:3")
        return [.activityStarted(start)] + events()
    }
}
extension ScriptedSession {
    /// A request in the clear, on a connection of its own without TLS.
    mutating func clear(
        _ who: Who, _ method: String, _ host: String, _ path: String, at time: Double,
        headers: [(String, String)] = []
    ) {
        exchange(
            who, method, "http://\(host)\(path)", at: time, headers: headers, isNavigation: who == .browser,
            on: connect(who, host, at: time - 0.02, hello: false))
    }

    /// A DNS query without its answer.
    mutating func query(_ host: String, at time: Double) { lookup(host, at: time, isAnswered: false) }

    /// A DNS answer by itself.
    mutating func answer(_ host: String, at time: Double) { lookup(host, at: time - 0.005, isAsked: false) }

    /// The events with another TLS version agreed on with `host`.
    func events(version: UInt16, of host: String) -> [SessionEvent] {
        var own: Set<ConnectionID> = []
        return events().map { event in
            if case .clientHello(let hello) = event, hello.serverName?.text == host { own.insert(hello.connection) }
            guard case .secureSession(var session) = event, own.contains(session.connection) else { return event }
            session.version = version
            return .secureSession(session)
        }
    }

    /// The events with another JA4 in the ClientHello that was sent right after a second.
    func events(ja4: String, at time: Double) -> [SessionEvent] {
        events().map { event in
            guard case .clientHello(var hello) = event, hello.seen.time == Self.instant(time + 0.002) else {
                return event
            }
            hello.ja4 = ja4
            return .clientHello(hello)
        }
    }
}

extension ScriptedSession {
    /// A DNS answer that gives a name the address of some connection.
    mutating func answer(_ host: String, is address: IPAddress?, at time: Double) {
        guard let name = HostName(host), let address else { return }
        let packet = reference(time)
        add(
            time,
            .nameLookup(
                NameLookup(
                    connection: ConnectionID(2_000_000 + packet.number), seen: packet, isResponse: true,
                    isMulticast: false, name: name, rawName: Array(host.utf8), type: 1,
                    answers: [.init(name: name, type: 1, data: .address(address))])))
    }
}
