internal import SessionTrace

/// **HR-12 over traces.** No idempotency key comes again in another trace, and all keys together look random.
///
/// A key that a second trace holds is a violation, of severity error where both traces may be one device's, else a warning.
/// An operation whose end was uncertain may go on in the next trace with its key and body, as a persisted one must. Keys of
/// five traces or more that have 60 of their 122 free bits in common are a warning.
///
/// Traps: a copy of a trace, or the same request recorded twice (by proxy and capture), is one use; a test build that pins
/// its generator needs an exception with an end.
enum KeyUniqueOverTraces: SetRule {
    static let description = RuleDescription(
        id: "HR-12", name: "key-unique-and-random", severity: .error,
        sentence: "No idempotency key is used in two traces, and the keys of all traces together look random.",
        heading: "The tap sequence",
        inconclusiveWhen: "session requests of a trace stayed unread, or bodies that would tell are not whole")

    /// Recorders of one run differ by no more in a request's time.
    static let sameRequest = Nanoseconds.seconds(1)

    private struct Use {
        var trace: TraceSet.Trace
        var use: TraceFacts.KeyUse
    }

    static func judge(_ set: TraceSet, _ judgement: inout Judgement) {
        judgement.idleSentence = "fewer than two traces hold a session request with a key"
        let uses = set.traces.flatMap { trace in trace.facts.keys.map { Use(trace: trace, use: $0) } }
            .sorted { $0.use.at < $1.use.at }
        guard Set(uses.map(\.trace.path)).count > 1 else { return }
        judgement.exercised()
        var byKey: [String: [Use]] = [:]
        for use in uses { byKey[use.use.key, default: []].append(use) }
        for use in uses where byKey[use.use.key]?.first?.use.at == use.use.at {
            judgeKey(byKey[use.use.key] ?? [], &judgement)
        }
        let common = judgeBits(byKey.values.compactMap(\.first), &judgement)
        judgement.passSentence =
            "\(counted(byKey.count, "key")) in \(set.traces.count { !$0.facts.keys.isEmpty }) traces, none in two"
            + (common.map { "; \($0) of 122 free bits are common to all" } ?? "")
        for trace in set.traces {
            guard let gap = trace.facts.sessionGap else { continue }
            judgement.doubt(gap.code, "\(trace.path): \(gap.sentence)", remedy: gap.remedy)
        }
    }

    private static func judgeKey(_ uses: [Use], _ judgement: inout Judgement) {
        guard let first = uses.first else { return }
        var last = first
        for next in uses.dropFirst() {
            defer { last = next }
            guard next.trace.path != last.trace.path else { continue }
            let gap = Nanoseconds(max(0, next.use.at.nanoseconds(since: last.use.at)))
            if next.use.body == last.use.body {
                // Two recorders saw one request, or a persisted operation goes on.
                if gap <= sameRequest || last.use.isOpenEnded { continue }
            } else if last.use.isOpenEnded, !last.use.bodyIsWhole || !next.use.bodyIsWhole {
                judgement.doubt(
                    "body-not-whole",
                    "\(last.trace.path) and \(next.trace.path) hold one key, but a body is not whole, so that it can't be told whether one operation goes on",
                    remedy: Session.remedy(.tcpHole))
                continue
            }
            let isOneDevice = last.trace.mayShareDevice(with: next.trace)
            judgement.violation(
                "key-in-two-traces", severity: isOneDevice ? .error : .warning,
                "\(last.trace.path) and \(next.trace.path) hold one key, \(gap) apart\(next.use.body == last.use.body ? ", though the first request had not ended uncertain" : ", with two bodies")\(isOneDevice ? "" : ", on two devices")",
                evidence: [last.trace.evidence(last.use.evidence), next.trace.evidence(next.use.evidence)])
        }
    }

    /// How many free bits all keys have in common; nil with too few of them.
    private static func judgeBits(_ uses: [Use], _ judgement: inout Judgement) -> Int? {
        let random = uses.filter(\.use.isRandomForm).sorted { $0.use.at < $1.use.at }
        guard let first = random.first?.use, random.count >= KeyUniqueAndRandom.sampleSize else { return nil }
        var different: (UInt64, UInt64) = (0, 0)
        for use in random {
            different.0 |= use.use.paddedHigh ^ first.paddedHigh
            different.1 |= use.use.paddedLow ^ first.paddedLow
        }
        let common = 122 - different.0.nonzeroBitCount - different.1.nonzeroBitCount
        if common >= KeyUniqueAndRandom.suspiciousBits {
            judgement.violation(
                "keys-not-random", severity: .warning,
                "\(random.count) keys of \(Set(random.map(\.trace.path)).count) traces have \(common) of 122 free bits in common, where about \(122 >> min(random.count - 1, 8)) are by chance",
                evidence: random.prefix(20).map { $0.trace.evidence($0.use.evidence) })
        }
        return common
    }
}
