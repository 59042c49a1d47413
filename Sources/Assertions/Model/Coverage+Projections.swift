internal import SessionTrace

/// What could hide a projection, so that its absence proves nothing.
extension Session {
    /// Why a projection that is missing between two instants may merely not have been seen, or may go by another name;
    /// nil when it would have been seen.
    func unseenProjection(from: Instant, to: Instant) -> InconclusiveReason? {
        var scratch = Judgement(Self.scratchRule)
        if projections.isEmpty, !policy.namesProjection {
            return InconclusiveReason(
                code: "policy-mismatch",
                sentence: "no response in the trace is \(policy.requests.projection) or holds a handoff decision",
                remedy: "add to \(policyLine) the path of the projection:  requests: {projection: {path: /…}}")
        }
        if !policy.namesProjection, let other = likelyProjection(from: from, to: to) {
            return InconclusiveReason(
                code: "policy-mismatch",
                sentence: "\(other.subject(redactor)) came between, which the policy does not name",
                remedy: "name what the app asks for eligibility in \(policyLine):  requests: {projection: {path: /…}}")
        }
        doubtUnreadSessions(&scratch)
        doubtBypass(&scratch)
        if let reason = scratch.doubts.first { return reason }
        if let failure = failure(from: from, to: to, where: { $0.map(mayServeSessions) ?? true }) {
            return InconclusiveReason(
                code: failure.kind.rawValue, sentence: failure.sentence, remedy: failure.remedy)
        }
        if let torn = projections.first(where: {
            !$0.isWhole && ($0.record.end == .notSeen || $0.record.end == .traceEnded)
                && $0.record.ended.time >= from && $0.record.started.time <= to
        }) {
            return InconclusiveReason(
                code: "outcome-not-seen",
                sentence: "the end of \(torn.record.subject) was not seen", remedy: Self.remedy(.tcpHole))
        }
        if let record = blindSpots.first(where: { record in
            record.spot.connection != nil && record.spot.from == .server
                && Self.hidesRequests.contains(record.spot.reason)
                && record.spot.span.latest >= from && record.spot.span.earliest <= to
                && record.names.contains { mayServeSessions($0) }
        }) {
            return InconclusiveReason(
                code: record.spot.reason.rawValue,
                sentence:
                    "bytes of \(record.names[0]) are missing (packet \(record.spot.noticed.number)), and may hold the projection",
                remedy: Self.remedy(record.spot.reason))
        }
        return nil
    }

    /// Another successful request of the app to the partner between two instants: with a projection that was only
    /// guessed, it may be the one that is asked for.
    private func likelyProjection(from: Instant, to: Instant) -> LoggedRequest? {
        let known = Set(projections.map(\.record.id)).union(attempts.flatMap { $0.messages.map(\.record.id) })
        return requests.requests(from: from, until: to).first { request in
            request.actor.actor != .browser && request.actor.actor != .os && request.method != "HEAD"
                && request.method != "OPTIONS" && (200..<300).contains(request.status) && request.ended.time <= to
                && role(of: request.host) == .partner && !known.contains(request.id)
        }
    }

    /// A rule that is none, to collect doubts for.
    private static let scratchRule = RuleDescription(
        id: "", name: "", severity: .info, sentence: "", heading: "", inconclusiveWhen: "")
}

extension Session {
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
