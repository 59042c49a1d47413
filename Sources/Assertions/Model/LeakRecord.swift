internal import SessionTrace

/// One message of the device in which the scanner found something.
struct LeakRecord: Hashable, Sendable {
    /// What carried it.
    enum Carrier: Hashable, Sendable {
        case request(RequestRecord)
        /// A WebSocket message; the request is the one that opened the connection.
        case message(RequestRecord?, host: HostName?, Evidence)
        case lookup(HostName, Evidence)
        /// A ClientHello: its server name or the protocols that it offers.
        case serverName(HostName?, Evidence, ConnectionID)
    }

    var carrier: Carrier
    var hits: [LeakHit]
    /// Digests that chance can make.
    var hints: [LeakHit] = []
    /// What the connection says of who sent it, where no request does.
    var flowActor = ActorReading.nothing
    /// The device that sent it; nil when its connection was not seen.
    var client: IPAddress?

    /// Who sent it.
    var actor: ActorReading { request?.actor ?? flowActor }

    /// Where it went.
    var host: HostName? {
        switch carrier {
        case .request(let record): record.host
        case .message(_, let host, _): host
        case .lookup(let host, _): host
        case .serverName(let host, _, _): host
        }
    }

    /// The request whose headers tell who and why.
    var request: RequestRecord? {
        switch carrier {
        case .request(let record): record
        case .message(let record, _, _): record
        case .lookup, .serverName: nil
        }
    }

    /// When it began.
    var started: Instant {
        switch carrier {
        case .request(let record): record.started.time
        case .message(_, _, let evidence), .lookup(_, let evidence), .serverName(_, let evidence, _):
            evidence.span.earliest
        }
    }

    /// The evidence for one hit.
    func evidence(_ label: String, _ hit: LeakHit) -> Evidence { evidence(label, place: hit.place) }

    /// The evidence for what stands at a place.
    func evidence(_ label: String, place: String) -> Evidence {
        switch carrier {
        case .request(let record):
            return record.evidence(label, place: place)
        case .message(_, _, var evidence), .lookup(_, var evidence), .serverName(_, var evidence, _):
            evidence.label = label
            evidence.place = place
            return evidence
        }
    }
}
