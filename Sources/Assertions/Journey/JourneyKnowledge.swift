internal import SessionTrace

/// How close a URL is to another (DESIGN: "its relation to U and N").
public enum JourneyCloseness: String, Hashable, Sendable, CaseIterable {
    /// The same but for the fragment.
    case equal
    /// The same once a browser has normalised both.
    case equalNormalised = "equal-normalised"
    /// Equal without query and fragment (and a trailing slash).
    case variant
    /// Another URL that holds the token, in any encoding; or any token, where none is known.
    case containsToken = "contains-token"
    /// None of these.
    case other
}

/// How a URL relates to the handoff URLs (U) and neutral URLs (N) that are known.
public struct JourneyRelation: Hashable, Sendable {
    /// To the closest handoff URL.
    public var toHandoff = JourneyCloseness.other
    /// Which handoff URL: the packet with the first byte of the session request that brought it; nil for none.
    public var handoff: Int?
    /// To the closest neutral URL.
    public var toNeutral = JourneyCloseness.other
    /// Which neutral URL: `PACKET/INDEX`, the first packet of the projection request and the decision's place in its
    /// answer; nil for none.
    public var neutral: String?

    /// Nothing in common.
    public init() {}
}

/// What a trace, read so far, says of handoff and neutral URLs and of whose hosts are whose. A value: a thread that reads
/// the recording makes it, others may ask it. Nothing of it can be printed.
public struct JourneyKnowledge: Hashable, Sendable {
    /// A URL of a session response.
    struct Handoff: Hashable, Sendable {
        /// The packet with the first byte of the session request.
        var packet: Int
        var text: String
        var token: String?
        var address: WebAddress?
    }

    /// The URL of a projection's decision.
    struct Neutral: Hashable, Sendable {
        /// `PACKET/INDEX`.
        var reference: String
        var address: WebAddress
    }

    var handoffs: [Handoff] = []
    var neutrals: [Neutral] = []
    /// Hosts that served a handoff URL, when the policy names no partner.
    var partnerHosts: Set<HostName> = []

    /// Handoff URLs, and neutral URLs, that are kept.
    static let limit = 1_000

    /// Nothing is known yet.
    public init() {}

    /// How `url`, an absolute http(s) URL, relates to what is known. Encodings of a token other than itself are not looked
    /// for here (`JourneySorter` does).
    public func relation(of url: String) -> JourneyRelation {
        WebAddress(url).map { relation(of: $0) } ?? JourneyRelation()
    }

    func relation(of address: WebAddress) -> JourneyRelation {
        var relation = JourneyRelation()
        let token = address.token
        for known in handoffs {
            let closeness = Self.closeness(of: address, token, to: known.address, known.token)
            if Self.rank(closeness) < Self.rank(relation.toHandoff) {
                relation.toHandoff = closeness
                relation.handoff = known.packet
            }
        }
        // A token of another session is one all the same.
        if relation.toHandoff == .other, token != nil { relation.toHandoff = .containsToken }
        for known in neutrals {
            let closeness = Self.closeness(of: address, token, to: known.address, nil)
            if Self.rank(closeness) < Self.rank(relation.toNeutral) {
                relation.toNeutral = closeness
                relation.neutral = known.reference
            }
        }
        return relation
    }

    private static func closeness(
        of address: WebAddress, _ token: String?, to known: WebAddress?, _ knownToken: String?
    ) -> JourneyCloseness {
        if let known {
            if address == known { return .equal }
            if address.normalised == known.normalised { return .equalNormalised }
            let isSamePlace = address.host == known.host && address.barePath == known.barePath
            if isSamePlace, token == nil || token == knownToken { return .variant }
        }
        return token != nil && token == knownToken ? .containsToken : .other
    }

    private static func rank(_ closeness: JourneyCloseness) -> Int {
        switch closeness {
        case .equal: 0
        case .equalNormalised: 1
        case .variant: 2
        case .containsToken: 3
        case .other: 4
        }
    }
}

extension SessionModel {
    /// What is known of handoff and neutral URLs.
    var journeyKnowledge: JourneyKnowledge {
        var knowledge = JourneyKnowledge()
        var texts: Set<String> = []
        for request in requests where knowledge.handoffs.count < JourneyKnowledge.limit {
            guard let url = request.answer.url else { continue }
            if policy.hosts.partner.isEmpty, let host = request.record.host, !isChia(host) {
                knowledge.partnerHosts.insert(host)
            }
            guard texts.insert(url).inserted else { continue }
            knowledge.handoffs.append(
                .init(
                    packet: request.record.started.number, text: url, token: request.answer.token,
                    address: WebAddress(url)))
        }
        var addresses: Set<WebAddress> = []
        for projection in projections {
            for (index, decision) in projection.decisions.enumerated()
            where knowledge.neutrals.count < JourneyKnowledge.limit {
                guard let address = decision.neutralURL.flatMap({ WebAddress($0) }), addresses.insert(address).inserted
                else { continue }
                knowledge.neutrals.append(
                    .init(reference: "\(projection.record.started.number)/\(index)", address: address))
            }
        }
        return knowledge
    }
}
