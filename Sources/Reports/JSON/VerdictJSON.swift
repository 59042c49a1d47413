internal import Assertions
internal import SessionTrace

/// How the parts of a verdict are written in the JSON report; `docs/report.schema.json` is the contract.
extension RuleResult {
    var json: JSONValue {
        .object([
            "id": .string(id),
            "name": .string(name),
            "severity": .string(severity.rawValue),
            "verdict": .string(verdict.rawValue),
            "sentence": .string(sentence),
            "reason": reason?.json,
            "doubt": doubt?.json,
            "assumptions": .array(
                assumptions.map { .object(["code": .string($0.code), "sentence": .string($0.sentence)]) }),
            "findings": .array(findings.map(\.json)),
            "lookedAt": .array(lookedAt.map(\.json)),
        ])
    }
}

extension InconclusiveReason {
    var json: JSONValue {
        .object(["code": .string(code), "sentence": .string(sentence), "remedy": .string(remedy)])
    }
}

extension Finding {
    var json: JSONValue {
        .object([
            "kind": .string(kind),
            "severity": .string(severity.rawValue),
            "message": .string(message),
            "evidence": .array(evidence.map(\.json)),
            "fingerprint": .string(fingerprint),
        ])
    }
}

extension Evidence {
    var json: JSONValue {
        .object([
            "label": .string(label),
            "packets": .array(packets.map { .integer($0) }),
            "from": .string(span.earliest.rfc3339),
            "until": .string(span.latest.rfc3339),
            "connection": connection.map { .integer($0.number) },
            "endpoints": endpoints.map { .string($0) },
            "subject": .string(subject),
            "place": place.map { .string($0) },
        ])
    }
}

extension TraceSummary {
    /// The `coverage` member of a trace.
    var json: JSONValue {
        .object([
            "packets": .integer(packets),
            "from": span.map { .string($0.earliest.rfc3339) },
            "until": span.map { .string($0.latest.rfc3339) },
            "complete": .bool(isComplete),
            "ownRecording": .bool(isOwnRecording),
            "droppedPackets": droppedPackets.map { .integer($0) },
            "layers": .array(Layer.allCases.filter(layers.contains).map { .string($0.rawValue) }),
            "watchedForBypass": .bool(watchedForBypass),
            "tls": .object([
                "connections": .integer(decryption.connections),
                "decrypted": .integer(decryption.decrypted),
                "keys": .integer(decryption.keys),
                "unusedKeys": .integer(decryption.unusedKeys),
                "dark": .object(
                    decryption.dark.sorted { $0.key < $1.key }.map {
                        JSONMember(name: $0.key, value: .integer($0.value))
                    }),
            ]),
            "notes": .array(notes.map { .string($0) }),
        ])
    }
}
