internal import ContentCodings
public import SessionTrace

/// A policy to begin with, filled with what a trace shows: the host that took a session request or served a projection,
/// by shape, and the paths it did that on.
///
/// Feed it a trace's events, or none, and take `text`.
public struct PolicySketch: Sendable {
    private var partners: [String] = []
    private var sessionPath: String?
    private var projectionPath: String?

    /// Nothing seen.
    public init() {}

    /// Takes the next event of a trace.
    public mutating func receive(_ event: SessionEvent) {
        guard case .exchange(let exchange) = event, let request = exchange.request, let host = request.host,
            let response = exchange.response
        else { return }
        let body = Self.text(response.body, fields: response.fields)
        let isSession =
            request.method == "POST" && (200..<300).contains(response.status) && body.contains("/phs_")
        let isProjection =
            request.method == "GET"
            && (body.contains("\"share_or_neutral\"") || body.contains("\"neutral_only\""))
        guard isSession || isProjection else { return }
        if !partners.contains(host.text), partners.count < 16 { partners.append(host.text) }
        if isSession, sessionPath == nil { sessionPath = request.path }
        if isProjection, projectionPath == nil { projectionPath = Self.template(of: request.path) }
    }

    private static func text(_ body: Body, fields: FieldSection) -> String {
        let codings = ContentCodings.tokens(fields.values("content-encoding"))
        let content = body.bytes.withUnsafeBytes { ContentCodings.decodeAll($0, codings: codings, limit: 1 << 20) }
        return String(decoding: content.bytes.prefix(1 << 20), as: UTF8.self)
    }

    /// The path with segments that look like ids replaced: those with a digit, and the one behind `catalog`.
    private static func template(of path: String) -> String {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        return parts.enumerated().map { index, part in
            let isID = part.contains(where: \.isNumber) || (index > 0 && parts[index - 1] == "catalog")
            return isID && !part.isEmpty ? "{id}" : String(part)
        }.joined(separator: "/")
    }

    /// The policy as YAML, with comments for the person who edits it.
    public var text: String {
        let partner = partners.isEmpty ? "api.partner.example" : partners.joined(separator: ", ")
        var lines = [
            "# Policy of handoff: whose hosts are whose, and which requests are which. Everything has a default;",
            "# handoff policy check tells whether the file can be used.",
            "version: 1",
            "hosts:",
            "  # The partner's backend, the only host that the app may talk to about the handoff"
                + (partners.isEmpty ? " (an example; put yours)." : " (as the trace shows it)."),
            "  partner: [\(partner)]",
            "  # chia: [chia.health]               # Chia's domains",
            "  # partner-assets: [img.partner.example]",
            "  # telemetry: [builtin, logs.partner.example]",
        ]
        let session = sessionPath ?? "/handoff-session"
        let projection = projectionPath ?? "/catalog/{id}/handoff"
        let isDefault = session == "/handoff-session" && projection == "/catalog/{id}/handoff"
        let mark = isDefault ? "# " : ""
        lines += [
            "\(mark)requests:",
            "\(mark)  session:    {method: POST, path: \(quoted(session)), key: header Idempotency-Key}",
            "\(mark)  projection: {method: GET, path: \(quoted(projection))}",
            "# gate: headline                    # the rules whose inconclusive verdict fails the check",
        ]
        return lines.joined(separator: "\n") + "\n"
    }

    private func quoted(_ path: String) -> String {
        "\"" + path.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }
}
