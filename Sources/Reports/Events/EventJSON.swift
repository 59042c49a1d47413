public import Assertions
public import SessionTrace

/// Session events as JSON, one a line, for other programs (`show --json`). Values that could be secrets are redacted.
public struct EventJSON: Sendable {
    private let redactor: Redactor

    /// Makes a writer.
    public init(redactor: Redactor) {
        self.redactor = redactor
    }

    /// One event as one line of JSON, without its newline.
    public func line(_ event: SessionEvent) -> String { json(event).description }

    private func json(_ event: SessionEvent) -> JSONValue {
        switch event {
        case .connectionOpened(let connection):
            return .object([
                "event": .string("connection-opened"), "connection": .integer(connection.id.number),
                "transport": .string(connection.transport.rawValue), "client": .string("\(connection.client)"),
                "server": .string("\(connection.server)"), "packet": json(connection.opened),
                "startSeen": .bool(connection.startSeen), "process": connection.process.map(json),
                "enclosing": connection.enclosing.map { .integer($0.number) },
                "target": connection.tunnelTarget.map { .string("\(redactor.host($0.host.text)):\($0.port)") },
                "interface": connection.interface.map { .string($0) },
            ])
        case .processIdentified(let id, let process):
            return .object([
                "event": .string("process-identified"), "connection": .integer(id.number), "process": json(process),
            ])
        case .clientHello(let hello):
            return .object([
                "event": .string("client-hello"), "connection": .integer(hello.connection.number),
                "packet": json(hello.seen),
                "serverName": hello.serverName.map { .string(redactor.host($0.text)) },
                "alpn": .array(hello.applicationProtocols.map { .string($0) }), "ja4": .string(hello.ja4),
                "highestVersion": .string(version(hello.highestVersion)),
                "encryptedClientHello": .bool(hello.hasEncryptedClientHello), "repeated": .bool(hello.isRepeated),
            ])
        case .nameLookup(let lookup):
            return .object([
                "event": .string("name-lookup"), "connection": .integer(lookup.connection.number),
                "packet": json(lookup.seen),
                "response": .bool(lookup.isResponse), "multicast": .bool(lookup.isMulticast),
                "name": lookup.name.map { .string(redactor.host($0.text)) }, "type": .integer(lookup.type),
                "code": .integer(lookup.responseCode), "answers": .array(lookup.answers.map(json)),
                "process": lookup.process.map(json),
            ])
        case .requestStarted(let id, let version, let request):
            return .object([
                "event": .string("request-started"), "exchange": json(id), "version": .string(version.rawValue),
                "request": json(request, isWhole: false),
            ])
        case .exchange(let exchange):
            return .object([
                "event": .string("exchange"), "exchange": json(exchange.id),
                "version": .string(exchange.version.rawValue),
                "stream": exchange.streamID.map { .integer($0) },
                "request": exchange.request.map { json($0, isWhole: true) },
                "informational": .array(exchange.informational.map { .integer($0.status) }),
                "response": exchange.response.map(json), "end": .string(end(exchange.end)),
                "packet": json(exchange.ended), "pushed": .bool(exchange.isPushed),
                "anomalies": .array(exchange.anomalies.map { .string(words($0)) }),
            ])
        case .delivery(let id, let delivery, let packet):
            return .object([
                "event": .string("delivery"), "exchange": json(id), "delivered": .string(delivery.rawValue),
                "packet": json(packet),
            ])
        case .message(let message):
            return .object([
                "event": .string("message"), "exchange": json(message.exchange), "from": side(message.from),
                "kind": .string(message.kind.rawValue), "length": .integer(message.payload.length),
                "frames": .integer(message.frames), "packet": json(message.started),
            ])
        case .mark(let mark):
            return json(mark)
        case .activityStarted(let start):
            return .object([
                "event": .string("activity-started"), "at": .string(start.span.earliest.rfc3339),
                "component": .string(start.component), "action": start.action.map { .string($0) },
                "host": start.host.map { .string($0.text) }, "origin": .string(start.origin),
            ])
        case .proxyEvent(let proxyEvent):
            return .object([
                "event": .string("proxy-event"), "kind": .string(proxyEvent.kind.rawValue),
                "at": .string(proxyEvent.at.rfc3339),
                "connection": proxyEvent.connection.map { .integer($0.number) }, "packet": proxyEvent.packet.map(json),
            ])
        case .secureSession(let session):
            return json(session)
        case .blindSpot(let spot):
            return .object([
                "event": .string("blind-spot"), "reason": .string(spot.reason.rawValue),
                "connection": spot.connection.map { .integer($0.number) }, "from": spot.from.map(side),
                "since": .string(spot.span.earliest.rfc3339), "until": .string(spot.span.latest.rfc3339),
                "bytes": spot.bytes.map { .integer($0) }, "packet": json(spot.noticed), "detail": .string(spot.detail),
            ])
        case .connectionClosed(let end):
            return .object([
                "event": .string("connection-closed"), "connection": .integer(end.id.number),
                "cause": .string(cause(end.cause)),
                "packet": json(end.last), "clientBytes": .integer(end.clientBytes),
                "serverBytes": .integer(end.serverBytes),
            ])
        case .traceEnded(let summary):
            return .object(["event": .string("trace-ended"), "coverage": summary.json])
        }
    }
}

extension EventJSON {
    private func json(_ packet: PacketReference) -> JSONValue {
        .object(["number": .integer(packet.number), "time": .string(packet.time.rfc3339)])
    }

    private func json(_ id: ExchangeID) -> JSONValue {
        .object(["connection": .integer(id.connection.number), "index": .integer(id.index)])
    }

    private func json(_ process: ProcessIdentity) -> JSONValue {
        .object([
            "source": .string(process.source.rawValue), "name": .string(process.name),
            "pid": process.processID.map { .integer($0) }, "effectiveName": process.effectiveName.map { .string($0) },
            "uid": process.userID.map { .integer($0) },
        ])
    }

    private func json(_ answer: NameLookup.Answer) -> JSONValue {
        let data: String =
            switch answer.data {
            case .address(let address): "\(address)"
            case .alias(let name): redactor.host(name.text)
            case .service(let target, let alpn, let publicName):
                "target \(target.map { redactor.host($0.text) } ?? ".") alpn \(alpn.joined(separator: ","))"
                    + (publicName.map { " ech \(redactor.host($0.text))" } ?? "")
            case .other: ""
            }
        return .object([
            "name": .string(redactor.host(answer.name.text)), "type": .integer(answer.type), "data": .string(data),
        ])
    }

    private func json(_ request: Request, isWhole: Bool) -> JSONValue {
        .object([
            "method": .string(redactor.name(request.method)), "target": .string(redactor.path(request.target)),
            "scheme": .string(request.scheme), "authority": request.authority.map { .string(redactor.host($0)) },
            "fields": json(request.fields), "trailers": request.trailers.fields.isEmpty ? nil : json(request.trailers),
            "body": isWhole ? json(request.body) : nil, "packet": json(request.started),
            "lastPacket": isWhole ? json(request.ended) : nil,
        ])
    }

    private func json(_ response: Response) -> JSONValue {
        .object([
            "status": .integer(response.status), "fields": json(response.fields),
            "trailers": response.trailers.fields.isEmpty ? nil : json(response.trailers), "body": json(response.body),
            "packet": json(response.started), "lastPacket": json(response.ended),
        ])
    }

    private func json(_ fields: FieldSection) -> JSONValue {
        .array(
            fields.fields.map { field in
                let name = fields.name(field)
                guard field.isKnown else { return .array([.string(redactor.name(name)), .null]) }
                return .array([
                    .string(redactor.name(name)), .string(redactor.fieldValue(fields.value(field), of: name)),
                ])
            })
    }

    private func json(_ body: Body) -> JSONValue {
        .object([
            "length": .integer(body.length), "missing": .integer(body.missing), "complete": .bool(body.isComplete),
            "cut": .bool(body.isCut),
        ])
    }

    private func json(_ mark: Mark) -> JSONValue {
        .object([
            "event": .string("mark"), "kind": .string(Redactor.printable(mark.kind.rawValue)),
            "target": mark.target.map { .string($0.rawValue) },
            "id": mark.id.map { .string(Redactor.printable($0)) }, "at": .string(mark.span.earliest.rfc3339),
            "until": .string(mark.span.latest.rfc3339), "onTraceClock": .bool(mark.isOnTraceClock),
            "phase": mark.phase.map { .string($0.rawValue) }, "count": .integer(mark.count),
            "by": .string(mark.by.rawValue), "source": .string(mark.source.rawValue),
            "name": mark.name.map { .string(Redactor.printable($0)) }, "packet": mark.packet.map(json),
        ])
    }

    private func json(_ session: SecureSession) -> JSONValue {
        let readability: String =
            switch session.readability {
            case .decrypted: "decrypted"
            case .partly(let reason): "partly: \(words(reason))"
            case .opaque(let reason): "opaque: \(words(reason))"
            case .noApplicationData: "no-application-data"
            }
        return .object([
            "event": .string("secure-session"), "connection": .integer(session.connection.number),
            "version": session.version.map { .string(version($0)) },
            "cipherSuite": session.cipherSuite.map { .integer($0) },
            "alpn": session.applicationProtocol.map { .string($0) }, "readability": .string(readability),
            "alert": session.alert.map { .object(["description": .integer($0.description), "by": side($0.by)]) },
            "clientBytes": .integer(session.clientApplicationBytes),
            "serverBytes": .integer(session.serverApplicationBytes),
        ])
    }

    private func side(_ side: Side) -> JSONValue { .string(side == .client ? "client" : "server") }

    private func version(_ number: UInt16) -> String {
        switch number {
        case 0x0304: "TLS 1.3"
        case 0x0303: "TLS 1.2"
        case 0x0302: "TLS 1.1"
        case 0x0301: "TLS 1.0"
        case 0x0300: "SSL 3.0"
        case 0x0002: "SSL 2.0"
        default: "0x" + String(number, radix: 16)
        }
    }

    private func end(_ end: ExchangeEnd) -> String {
        switch end {
        case .complete: "complete"
        case .closed(let side): "closed by \(side)"
        case .reset(let side, let code): "reset by \(side)" + (code.map { ", code \($0)" } ?? "")
        case .unprocessed: "unprocessed"
        case .notSeen: "not seen"
        case .traceEnded: "trace ended"
        }
    }

    private func cause(_ cause: ConnectionEnd.Cause) -> String {
        switch cause {
        case .finished: "finished"
        case .reset(let side): "reset by \(side)"
        case .idle: "idle"
        case .traceEnded: "trace ended"
        }
    }

    private func words(_ reason: SecureSession.UnreadableReason) -> String {
        switch reason {
        case .noKeys: "no keys"
        case .keysDoNotFit: "keys do not fit"
        case .handshakeNotSeen: "handshake not seen"
        case .unsupported(let what): "unsupported \(what)"
        case .hole: "hole"
        }
    }

    private func words(_ anomaly: Anomaly) -> String {
        switch anomaly {
        case .ambiguousFraming(let what): "ambiguous framing: \(redactor.text(what))"
        case .malformedHead(let what): "malformed head: \(redactor.text(what))"
        case .unexpectedResponse: "a response without a request"
        case .notHTTP(let what): "not HTTP: \(redactor.text(what))"
        case .framingError(let what): "framing error: \(redactor.text(what))"
        case .conflictingOverlap: "conflicting overlap"
        }
    }
}
