internal import SessionTrace

/// What RFC 9113 §8.2 and §8.3 forbid in a header section. Everything is kept as it was sent; this only tells
/// (CASES row 14).
enum HeaderFieldRules {
    /// The kind of section, which decides the pseudo-header fields that belong into it.
    enum Section {
        case request, response, trailers
    }

    /// What is wrong with the section; each kind of fault is told once.
    static func anomalies(of section: FieldSection, as kind: Section) -> [Anomaly] {
        var faults: [String] = []
        func blame(_ text: String) {
            if !faults.contains(text) { faults.append(text) }
        }
        var pseudo: [String] = []
        var regularSeen = false
        for field in section.fields {
            guard field.isKnown else { continue }
            let name = section.nameBytes(field)
            let value = section.valueBytes(field)
            if name.first == 0x3A {
                let text = section.name(field)
                if regularSeen { blame("pseudo-header field after regular ones") }
                if pseudo.contains(text) { blame("\(text) twice") }
                if !allowed(kind).contains(text) { blame("pseudo-header field that does not belong there") }
                pseudo.append(text)
            } else {
                regularSeen = true
                if name.isEmpty { blame("empty field name") }
                if name.contains(where: { (0x41...0x5A).contains($0) }) { blame("upper-case field name") }
                if name.contains(where: { $0 <= 0x20 || $0 >= 0x7F || $0 == 0x3A }) {
                    blame("field name with forbidden characters")
                }
                if isConnectionSpecific(section, field) { blame("connection-specific field") }
            }
            if value.contains(where: { $0 == 0 || $0 == 0x0A || $0 == 0x0D }) {
                blame("field value with NUL, CR or LF")
            }
            if isSpace(value.first) || isSpace(value.last) { blame("field value with white space at its edge") }
        }
        if !section.hasUnknownFields { missing(pseudo, section, kind).map(blame) }
        return faults.map { .malformedHead($0) }
    }

    private static func allowed(_ kind: Section) -> Set<String> {
        switch kind {
        case .request: [":method", ":scheme", ":authority", ":path", ":protocol"]
        case .response: [":status"]
        case .trailers: []
        }
    }

    private static func missing(_ pseudo: [String], _ section: FieldSection, _ kind: Section) -> String? {
        switch kind {
        case .trailers: return nil
        case .response: return pseudo.contains(":status") ? nil : "no :status"
        case .request:
            guard pseudo.contains(":method") else { return "no :method" }
            let isPlainConnect = section.first(":method") == "CONNECT" && !pseudo.contains(":protocol")
            if isPlainConnect { return pseudo.contains(":authority") ? nil : "CONNECT without :authority" }
            guard pseudo.contains(":scheme"), pseudo.contains(":path") else { return "no :scheme or no :path" }
            return section.first(":path") == "" ? "empty :path" : nil
        }
    }

    private static func isConnectionSpecific(_ section: FieldSection, _ field: FieldSection.Field) -> Bool {
        for name in ["connection", "proxy-connection", "keep-alive", "transfer-encoding", "upgrade"]
        where section.hasName(field, name) {
            return true
        }
        return section.hasName(field, "te") && section.value(field) != "trailers"
    }

    private static func isSpace(_ byte: UInt8?) -> Bool { byte == 0x20 || byte == 0x09 }
}
