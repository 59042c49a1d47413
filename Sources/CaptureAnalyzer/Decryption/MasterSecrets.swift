/// Where the master secret of a TLS 1.0 to 1.2 handshake can come from.
internal import SessionTrace
internal import WireFormats

/// A secret that may fit, and where it is from.
struct SecretCandidate {
    enum Source {
        case random(TLSRandom)
        case session([UInt8])
        case premaster([UInt8])
        /// From a connection whose session this one resumes, from this connection itself, or from a secret before it.
        case derived
    }

    var secret: [UInt8]
    var source: Source
}

extension TLSConnectionDecoder {
    /// Every master secret that may be this handshake's, the likeliest first. Only a record that verifies decides.
    func masterSecrets(_ negotiation: Negotiation, _ context: DecryptionContext) -> [SecretCandidate] {
        let keys = context.keys
        let random = negotiation.offer.random
        var found = masters.filter { $0.random == random }.map {
            SecretCandidate(secret: $0.secret, source: .derived)
        }
        found += keys.secrets(.masterSecret, for: random).map { SecretCandidate(secret: $0, source: .random(random)) }
        if let secret = keys.masterSecret(session: negotiation.sessionID) {
            found.append(SecretCandidate(secret: secret, source: .session(negotiation.sessionID)))
        }
        for premaster in keys.secrets(.premasterSecret, for: random) {
            if let secret = negotiation.masterSecret(premaster: premaster) {
                found.append(SecretCandidate(secret: secret, source: .random(random)))
            }
        }
        if let premaster = keys.premasterSecret(encrypted: negotiation.encryptedPremaster),
            let secret = negotiation.masterSecret(premaster: premaster)
        {
            found.append(SecretCandidate(secret: secret, source: .premaster(negotiation.encryptedPremaster)))
        }
        // A resumed session has the secret of the one that it resumes.
        let offer = negotiation.offer
        if !negotiation.sessionID.isEmpty, negotiation.sessionID == offer.sessionID,
            let secret = context.resumable.master(id: negotiation.sessionID)
        {
            found.append(SecretCandidate(secret: secret, source: .derived))
        }
        if !offer.ticketDigest.isEmpty, let secret = context.resumable.master(ticket: offer.ticketDigest) {
            found.append(SecretCandidate(secret: secret, source: .derived))
        }
        return found
    }

    /// A master secret has opened a record: it is remembered for the other side and for sessions that resume this one.
    mutating func use(_ candidate: SecretCandidate, _ negotiation: Negotiation, _ context: inout DecryptionContext) {
        switch candidate.source {
        case .random(let random): context.keys.markUsed(random)
        case .session(let id): context.keys.markUsed(session: id)
        case .premaster(let encrypted): context.keys.markUsed(encrypted: encrypted)
        case .derived: break
        }
        if !negotiation.sessionID.isEmpty { context.resumable.remember(candidate.secret, id: negotiation.sessionID) }
        let tickets = [negotiation.newTicketDigest, self.negotiation?.newTicketDigest ?? []]
        for digest in tickets where !digest.isEmpty { context.resumable.remember(candidate.secret, ticket: digest) }
        masters = [(negotiation.offer.random, candidate.secret)]
        needsDrain = true
    }
}
