internal import SessionTrace

/// What could hide a projection, so that its absence proves nothing; worked out once for many absences.
struct ProjectionCoverage {
    private let session: Session
    /// What hides projections at any time.
    private let constant: InconclusiveReason?
    /// Projections and attempts: what else the app asked the partner may be a projection by another name.
    private let known: Set<ExchangeID>
    /// Projections whose end was not seen.
    private let torn: [RequestRecord]
    /// Bytes of the partner that are missing.
    private let holes: [BlindRecord]

    init(_ session: Session) {
        self.session = session
        if session.projections.isEmpty, !session.policy.namesProjection {
            constant = InconclusiveReason(
                code: "policy-mismatch",
                sentence:
                    "no response in the trace is \(session.policy.requests.projection) or holds a handoff decision",
                remedy: "add to \(session.policyLine) the path of the projection:  requests: {projection: {path: /…}}")
        } else {
            var scratch = Judgement(Self.scratchRule)
            session.doubtUnreadSessions(&scratch)
            session.doubtBypass(&scratch)
            constant = scratch.doubts.first
        }
        known =
            session.policy.namesProjection
            ? []
            : Set(session.projections.map(\.record.id)).union(
                session.attempts.flatMap { $0.messages.map(\.record.id) })
        torn = session.projections.lazy.filter {
            !$0.isWhole && ($0.record.end == .notSeen || $0.record.end == .traceEnded)
        }.map(\.record)
        holes = session.blindSpots.filter { record in
            record.spot.connection != nil && record.spot.from == .server
                && Session.hidesRequests.contains(record.spot.reason)
                && record.names.contains { session.mayServeSessions($0) }
        }
    }

    /// Why a projection that is missing between two instants may merely not have been seen, or may go by another name;
    /// nil when it would have been seen.
    func unseen(from: Instant, to: Instant) -> InconclusiveReason? {
        if !session.policy.namesProjection, !session.projections.isEmpty, let other = likely(from: from, to: to) {
            return InconclusiveReason(
                code: "policy-mismatch",
                sentence: "\(other.subject(session.redactor)) came between, which the policy does not name",
                remedy:
                    "name what the app asks for eligibility in \(session.policyLine):  requests: {projection: {path: /…}}"
            )
        }
        if let constant { return constant }
        if let failure = session.failure(from: from, to: to, where: { $0.map(session.mayServeSessions) ?? true }) {
            return InconclusiveReason(code: failure.kind.rawValue, sentence: failure.sentence, remedy: failure.remedy)
        }
        if let torn = torn.first(where: { $0.ended.time >= from && $0.started.time <= to }) {
            return InconclusiveReason(
                code: "outcome-not-seen", sentence: "the end of \(torn.subject) was not seen",
                remedy: Session.remedy(.tcpHole))
        }
        if let hole = holes.first(where: { $0.spot.span.latest >= from && $0.spot.span.earliest <= to }) {
            return InconclusiveReason(
                code: hole.spot.reason.rawValue,
                sentence:
                    "bytes of \(hole.names[0]) are missing (packet \(hole.spot.noticed.number)), and may hold the projection",
                remedy: Session.remedy(hole.spot.reason))
        }
        return nil
    }

    /// Another successful request of the app to the partner between two instants: with a projection that was only
    /// guessed, it may be the one that is asked for.
    private func likely(from: Instant, to: Instant) -> LoggedRequest? {
        session.requests.requests(from: from, until: to).first { request in
            request.actor.actor != .browser && request.actor.actor != .os && request.method != "HEAD"
                && request.method != "OPTIONS" && (200..<300).contains(request.status) && request.ended.time <= to
                && session.role(of: request.host) == .partner && !known.contains(request.id)
        }
    }

    /// A rule that is none, to collect doubts for.
    private static let scratchRule = RuleDescription(
        id: "", name: "", severity: .info, sentence: "", heading: "", inconclusiveWhen: "")
}

extension Session {
    /// See `ProjectionCoverage.unseen(from:to:)`.
    func unseenProjection(from: Instant, to: Instant) -> InconclusiveReason? {
        ProjectionCoverage(self).unseen(from: from, to: to)
    }

    /// That projections came between two instants, but none that names the item, in words; nil when none came.
    ///
    /// A path may call an item otherwise than the request does.
    func unnamedProjection(of item: String?, from: Instant, to: Instant) -> String? {
        guard let item, !projectionBook.items.contains(item) else { return nil }
        let between = projections.filter {
            $0.isWhole && $0.record.started.time >= from && $0.record.ended.time <= to
        }
        guard !between.isEmpty else { return nil }
        return "\(counted(between.count, "projection")) came between, but no projection names the item of the request"
    }

    /// The disclosure version of an attempt can't be read.
    func doubtVersion(of attempt: Attempt, _ judgement: inout Judgement) {
        if attempt.first.bodyIsWhole {
            judgement.doubt(
                "policy-mismatch",
                "attempt \(attempt.number) has no disclosure version at \(policy.fields.disclosureVersion)",
                remedy: "name the field in \(policyLine):  fields: {disclosure-version: /…}")
        } else {
            judgement.doubt(
                "body-not-whole", "the content of attempt \(attempt.number) is not whole in the trace",
                remedy: Self.remedy(.tcpHole))
        }
    }
}

extension Session {
    /// No projection of an attempt's item is in the trace before a moment: why.
    func doubtProjection(of attempt: Attempt, before moment: Instant, _ when: String, _ judgement: inout Judgement) {
        if attempt.catalogID == nil, attempt.first.bodyIsWhole, projectionBook.items.count > 1 {
            judgement.doubt(
                "policy-mismatch",
                "attempt \(attempt.number) names no item at \(policy.fields.catalogID), and \(projectionBook.items.count) items have projections",
                remedy: "name the field in \(policyLine):  fields: {catalog-id: /…}")
        } else if let other = unnamedProjection(of: attempt.catalogID, from: .distantPast, to: moment) {
            judgement.doubt(
                "policy-mismatch", "before \(when) of attempt \(attempt.number) \(other)",
                remedy: "name where the item stands in \(policyLine):  fields: {catalog-id: /…}")
        } else if projections.isEmpty, !policy.namesProjection,
            let reason = unseenProjection(from: .distantPast, to: moment)
        {
            judgement.doubt(reason.code, reason.sentence, remedy: reason.remedy)
        } else {
            judgement.doubt(
                "projection-not-seen", "no projection of the item of attempt \(attempt.number) was seen before \(when)",
                remedy: "start the trace before the app fetches the projection, and give the keys for it")
        }
    }
}
