public import Assertions
internal import SessionTrace

/// The JSON report over a set of traces; `docs/report.schema.json` is its schema.
public struct JSONReport: Sendable {
    /// The schema's version, changed when a member changes its meaning.
    public static let schema = "handoff-report/1"

    private let set: SetVerdict
    private let version: String
    private let digests: [String: String]

    /// Makes a report. `digests` gives the SHA-256 of each trace file in hex, by path, where the file was read to its end.
    public init(set: SetVerdict, version: String, digests: [String: String]) {
        self.set = set
        self.version = version
        self.digests = digests
    }

    /// The document, UTF-8 text.
    public var text: String {
        let document = JSONValue.object([
            "schema": .string(Self.schema),
            "tool": .object(["name": .string("handoff"), "version": .string(version)]),
            "traces": .array(set.traces.map(json)),
            "causes": .array(set.causes.map(json)),
            "setRules": .array(set.rules.map(\.json)),
            "matrix": .array(set.matrix.map(json)),
            "notExercised": .array(set.notExercised.map { .string($0) }),
            "misuses": set.misuses.isEmpty ? nil : .array(set.misuses.map { .string($0) }),
            "verdict": .string(set.outcome.rawValue),
        ])
        return document.indented() + "\n"
    }

    private func json(_ trace: JudgedTrace) -> JSONValue {
        .object([
            "path": .string(trace.path),
            "sha256": digests[trace.path].map { .string($0) },
            "verdict": .string(set.outcome(of: trace).rawValue),
            "error": trace.error.map { .string($0) },
            "stopped": trace.stopped.map { .string($0) },
            "policy": trace.conditions.map { conditions in
                .object([
                    "path": conditions.policy.map { .string($0) },
                    "found": .string(conditions.policyOrigin.rawValue),
                ])
            },
            "filter": trace.conditions.flatMap(filter),
            "attributes": trace.verdict.map { verdict in
                .object(
                    verdict.attributes.sorted { $0.key < $1.key }.map {
                        JSONMember(name: $0.key, value: .string($0.value))
                    })
            },
            "gate": trace.verdict.map { .array($0.gate.sorted().map { .string($0) }) },
            "coverage": trace.verdict.map(\.summary.json),
            "notes": trace.verdict.map { .array($0.notes.map { .string($0) }) },
            "rules": .array(trace.verdict?.rules.map(\.json) ?? []),
        ])
    }

    private func filter(_ conditions: JudgingConditions) -> JSONValue? {
        conditions.filter.map { filter in
            .object(["expression": .string(filter), "packetsLeftOut": .integer(conditions.filteredPackets)])
        }
    }

    private func json(_ cause: SetVerdict.Cause) -> JSONValue {
        .object([
            "code": .string(cause.code),
            "sentence": .string(cause.sentence),
            "remedy": .string(cause.remedy),
            "paths": .array(cause.paths.map { .string($0) }),
            "rules": .array(cause.rules.map { .string($0) }),
            "gated": .bool(cause.isGated),
        ])
    }

    private func json(_ row: SetVerdict.MatrixRow) -> JSONValue {
        .object([
            "id": .string(row.id),
            "title": .string(row.title),
            "decidable": .bool(row.isDecidable),
            "groups": .object(
                row.cells.sorted { $0.key < $1.key }.map { group, cell in
                    JSONMember(
                        name: group,
                        value: .object([
                            "exercise": .string(
                                (row.isDecidable ? cell.exercise : Exercise.outOfScope).rawValue),
                            "proven": .integer(cell.proven),
                            "violated": .integer(cell.violated),
                        ]))
                }),
        ])
    }
}
