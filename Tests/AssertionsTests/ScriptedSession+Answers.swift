import Assertions
import SessionTrace

/// Answers that come otherwise than to a request of their own.
extension ScriptedSession {
    /// A WebSocket message of the server.
    mutating func serverMessage(_ exchange: ExchangeID, _ payload: String, at time: Double) {
        let packet = reference(time)
        let bytes = Array(payload.utf8)
        add(
            time,
            .message(
                Message(
                    exchange: exchange, from: .server, kind: .text,
                    payload: Body(
                        bytes: bytes, length: bytes.count, missing: 0, isComplete: true, isCut: false),
                    started: packet, ended: packet, frames: 1)))
    }

    /// An answer that was pushed (RFC 9113 §8.4), or, without a request, one of which the request was not captured.
    mutating func strayAnswer(_ body: String, on id: ConnectionID, at time: Double, isPushed: Bool) {
        let packet = reference(time)
        let bytes = Array(body.utf8)
        var fields = FieldSection()
        fields.append("content-type", "application/json")
        var exchange = Exchange(
            id: ExchangeID(connection: id, index: 900 + Int(time)), version: .http2,
            request: isPushed
                ? Request(
                    method: "GET", target: "/pushed", scheme: "https", authority: "api.partner.example",
                    fields: FieldSection(), started: packet, ended: packet) : nil,
            response: Response(
                status: 200, reason: "", fields: fields,
                body: Body(bytes: bytes, length: bytes.count, missing: 0, isComplete: true, isCut: false),
                started: packet, ended: packet),
            end: .complete, ended: packet)
        exchange.isPushed = isPushed
        add(time, .exchange(exchange))
    }
}
