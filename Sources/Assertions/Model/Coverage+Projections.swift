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
        doubtSessionTraffic(&scratch)
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
