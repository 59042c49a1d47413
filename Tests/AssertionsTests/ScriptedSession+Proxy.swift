import SessionTrace

@testable import Assertions

/// What a recording proxy says beside the traffic.
extension ScriptedSession {
    /// A word of the proxy on a connection.
    mutating func proxyEvent(
        _ kind: ProxyEvent.Kind, on connection: ConnectionID?, at time: Double, _ attributes: [String: String]
    ) {
        let packet = reference(time)
        add(
            time,
            .proxyEvent(
                ProxyEvent(
                    kind: kind, at: Self.instant(time), connection: connection, packet: packet, attributes: attributes))
        )
    }

    /// A host that the proxy could not reach: a tunnel that was asked for and refused.
    mutating func unreachable(_ who: Who, _ host: String, at time: Double) {
        let id = connect(who, host, at: time - 0.01, hello: false)
        var fields = FieldSection()
        for (name, value) in Self.headers(who, [], isNavigation: false) where name == "user-agent" {
            fields.append(name, value)
        }
        let packet = reference(time)
        add(
            time,
            .exchange(
                Exchange(
                    id: ExchangeID(connection: id, index: 0), version: .http11,
                    request: Request(
                        method: "CONNECT", target: "\(host):443", scheme: "", authority: "\(host):443",
                        fields: fields, started: packet, ended: packet),
                    response: Self.response(502, "", [], packet), end: .complete, ended: packet)))
        proxyEvent(.dialFailed, on: id, at: time, ["host": host, "port": "443", "reason": "connection-refused"])
    }

    /// A host with which the proxy could not agree on TLS, so that the device sent nothing.
    mutating func withoutServer(_ who: Who, _ host: String, at time: Double) {
        let id = connect(who, host, at: time - 0.01)
        proxyEvent(.upstreamTLSFailed, on: id, at: time, ["name": host, "reason": "the certificate has expired"])
    }

    /// A request in clear text whose host the proxy could not reach: it was read all the same.
    mutating func unreachableInClear(_ who: Who, _ host: String, at time: Double, body: String) {
        let id = connect(who, host, at: time - 0.01, hello: false)
        exchange(who, "POST", "https://\(host)/t", at: time, status: 502, body: body, on: id)
        proxyEvent(.dialFailed, on: id, at: time + 0.1, ["host": host, "reason": "connection-refused"])
    }

    /// A tunnel that somebody asked for, and one request on it.
    mutating func tunnel(
        to host: String, asked agent: String?, at time: Double, headers: [(String, String)], path: String
    ) {
        let outer = connect(.nobody, "proxy.lab.example", at: time - 0.02, hello: false)
        var fields = FieldSection()
        if let agent { fields.append("user-agent", agent) }
        let packet = reference(time - 0.01)
        add(
            time - 0.01,
            .exchange(
                Exchange(
                    id: ExchangeID(connection: outer, index: 0), version: .http11,
                    request: Request(
                        method: "CONNECT", target: "\(host):443", scheme: "", authority: "\(host):443",
                        fields: fields, started: packet, ended: packet),
                    response: Self.response(200, "", [], packet), end: .complete, ended: packet)))
        let inner = connect(.nobody, host, at: time, on: outer)
        exchange(.nobody, "GET", "https://\(host)\(path)", at: time + 0.1, headers: headers, on: inner)
    }

    /// Judges what a recording with `--chia-journey=heads` would hold.
    func judgeWithheld() throws -> TraceVerdict { try judge(WithheldSession(self).events) }
}
