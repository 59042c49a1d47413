internal import SessionTrace

/// The content of a session request, as rules about its fields see it.
enum SessionContent {
    case json(JSONValue)
    /// Not all of it is in the trace.
    case torn
    /// Its content coding could not be undone.
    case coded
    /// It is no JSON; why, in words.
    case other(String)
}

extension SessionRequest {
    /// What its content is, read anew at each call.
    var content: SessionContent {
        guard bodyIsWhole else { return .torn }
        if body.isEmpty { return contentEncoding.isEmpty || rawBody.isEmpty ? .other("it is empty") : .coded }
        do throws(JSONError) {
            return .json(try JSONValue.parse(body, limits: JSONLimits(bytes: body.count, depth: 32, values: 20_000)))
        } catch {
            return contentEncoding.isEmpty ? .other("byte \(error.offset): \(error.reason)") : .coded
        }
    }
}

extension Session {
    /// Calls `judge` once for each different body of the attempts, with the JSON that it is; what can't be judged is
    /// doubted, what is no JSON handed to `other` with the reason.
    func forEachContent(
        _ judgement: inout Judgement, json judge: (Attempt, JSONValue, inout Judgement) -> Void,
        other: (Attempt, String, inout Judgement) -> Void
    ) {
        var known: Set<[UInt8]> = []
        for attempt in attempts {
            judgement.looked(at: attempt.evidence())
            guard known.insert(attempt.first.body).inserted else { continue }
            switch attempt.first.content {
            case .json(let value): judge(attempt, value, &judgement)
            case .other(let why): other(attempt, why, &judgement)
            case .torn:
                // What broke off and was sent again whole is read there.
                let isRepeated = attempts.contains {
                    $0.number != attempt.number && $0.key == attempt.key && $0.key != nil && $0.first.bodyIsWhole
                }
                if isRepeated { continue }
                judgement.doubt(
                    "body-not-whole",
                    "the content of attempt \(attempt.number) is not whole in the trace (\(attempt.first.body.count) of \(attempt.first.bodyLength) bytes)",
                    remedy: Self.remedy(.tcpHole))
            case .coded:
                judgement.doubt(
                    BlindSpot.Reason.undecodableContent.rawValue,
                    "the content coding of attempt \(attempt.number) (\(attempt.first.contentEncoding)) could not be undone",
                    remedy: Self.remedy(.undecodableContent))
            }
        }
    }

    /// What is asked of the fields of session requests rests on these.
    func doubtSessionFields(_ judgement: inout Judgement) {
        if attempts.isEmpty {
            doubtMissingAttempts(&judgement)
        } else {
            doubtSessionTraffic(&judgement)
        }
        doubtPolicy(&judgement)
        doubtSessionBypass(&judgement)
        assumePartner(&judgement)
    }

    /// A pass that speaks of every session request rests on all of them having been seen: one that went around the proxy
    /// may be what the rule forbids.
    func doubtSessionBypass(_ judgement: inout Judgement) {
        if !attempts.isEmpty || !shareBursts.isEmpty { doubtBypass(&judgement) }
    }

    /// A request that says what a session request says, on a path that the policy does not name.
    func doubtUnlistedRequests(_ judgement: inout Judgement) {
        guard let request = unlistedRequests.first else { return }
        let path = redactor.path(request.record.address?.path ?? request.record.pathTemplate)
        judgement.doubt(
            "policy-mismatch",
            "\(request.record.method) \(request.record.pathTemplate) says what the session request says "
                + "(packet \(request.record.started.number)), but the policy says \(policy.requests.session), and no handoff URL came back",
            remedy:
                "add to \(policyLine):  requests: {session: {path: \(path)}}; or, if it is no session request,  requests: {allow: [\"\(request.record.method) \(path)\"]}"
        )
    }
}

extension JSONValue {
    /// Every value at a JSON pointer, where names come several times; see `value(at:)`.
    func values(at pointer: String) -> [JSONValue] {
        var values = [self]
        for token in pointer.split(separator: "/", omittingEmptySubsequences: false).dropFirst() {
            values = values.flatMap { value -> [JSONValue] in
                guard let members = value.members else { return value.value(at: "/\(token)").map { [$0] } ?? [] }
                return members.filter { Self.escaped($0.name) == token }.map(\.value)
            }
        }
        return values
    }

    /// Pointers to all that holds no further value, at most `limit`.
    func leaves(limit: Int) -> [String] {
        var found: [String] = []
        collect(at: "", limit, &found)
        return found
    }

    private func collect(at pointer: String, _ limit: Int, _ found: inout [String]) {
        guard found.count < limit else { return }
        switch self {
        case .object(let members) where !members.isEmpty:
            for member in members { member.value.collect(at: "\(pointer)/\(Self.escaped(member.name))", limit, &found) }
        case .array(let elements) where !elements.isEmpty:
            for (index, element) in elements.enumerated() { element.collect(at: "\(pointer)/\(index)", limit, &found) }
        default: found.append(pointer)
        }
    }

    private static func escaped(_ name: String) -> String {
        name.replacing("~", with: "~0").replacing("/", with: "~1")
    }
}
