internal import SessionTrace

/// Changes to the text of a policy that leave everything else in it as it was written, comments too.
public enum PolicyEdit {
    /// Why a text could not be changed.
    public struct Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// One sentence, with what to do.
        public let description: String
    }

    /// An exception that is to be added.
    public struct NewException: Hashable, Sendable {
        /// The rule's id.
        public var rule: String
        /// The finding's fingerprint.
        public var fingerprint: String
        /// Why it is accepted.
        public var reason: String
        /// Who answers for it.
        public var owner: String
        /// The last day on which it applies.
        public var expires: CalendarDay

        /// Describes an exception.
        public init(rule: String, fingerprint: String, reason: String, owner: String, expires: CalendarDay) {
            self.rule = rule
            self.fingerprint = fingerprint
            self.reason = reason
            self.owner = owner
            self.expires = expires
        }

        /// `{rule: HR-48, fingerprint: 3fd1…, reason: "…", owner: "ana", expires: 2027-01-31}`.
        public var yaml: String {
            "{rule: \(rule), fingerprint: \"\(fingerprint)\", reason: \(PolicyEdit.quoted(reason)), "
                + "owner: \(PolicyEdit.quoted(owner)), expires: \(expires)}"
        }

        /// Whether this is what a policy holds.
        fileprivate func reads(_ other: Policy.Exception) -> Bool {
            other.rule == rule && other.fingerprint == fingerprint && other.reason == reason && other.owner == owner
                && other.expires == expires
        }
    }

    /// The text with one exception more. `text` is a policy that `Policy.parse` takes; so is what comes back.
    public static func adding(
        _ exception: NewException, to text: String, file: String
    ) throws -> String {
        let before = try Policy.parse(yaml: text, file: file)
        if before.exceptions.contains(where: {
            $0.rule == exception.rule && $0.fingerprint == exception.fingerprint
        }) {
            throw Refusal(
                description:
                    "\(file) has an exception for \(exception.fingerprint) already; change its date or reason there")
        }
        let edited = try insert(exception.yaml, into: text)
        // What was written by hand in a way that is not foreseen here must not be broken.
        guard let edited, let after = try? Policy.parse(yaml: edited, file: file),
            after.exceptions.count == before.exceptions.count + 1, after.exceptions.contains(where: exception.reads)
        else {
            throw Refusal(
                description: "\(file): can't see where its exceptions are; add this by hand:  - \(exception.yaml)")
        }
        return edited
    }

    private static func insert(_ item: String, into text: String) throws -> String? {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let root = try? YAMLDocument.read(text)
        var value: YAMLNode?
        if case .mapping(let pairs) = root?.content {
            value = pairs.first { $0.key.text == "exceptions" }?.value
        }
        guard let value else {
            if lines.last == "" { lines.removeLast() }
            return (lines + ["exceptions:", "  - \(item)", ""]).joined(separator: "\n")
        }
        guard case .sequence(let items) = value.content, lines.indices.contains(value.place.line - 1) else {
            return nil
        }
        let index = value.place.line - 1
        let column = value.place.column - 1
        let line = Array(lines[index].unicodeScalars)
        guard line.indices.contains(column) else { return nil }
        switch line[column] {
        case "[":
            let head = String(String.UnicodeScalarView(line[...column]))
            let tail = String(String.UnicodeScalarView(line[(column + 1)...]))
            lines[index] = head + item + (items.isEmpty ? "" : ", ") + tail
        case "-":
            let indent = String(String.UnicodeScalarView(line[..<column]))
            lines.insert("\(indent)- \(item)", at: index)
        default:
            return nil
        }
        return lines.joined(separator: "\n")
    }

    /// A double-quoted YAML scalar (YAML 1.1 §5.7): what an editor does not show, or a reader does not take, as escapes.
    static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\t": quoted += "\\t"
            case _ where scalar != " " && isUnseen(scalar):
                let digits = String(scalar.value, radix: 16)
                let (letter, length) = scalar.value < 0x100 ? ("x", 2) : scalar.value < 0x1_0000 ? ("u", 4) : ("U", 8)
                quoted += "\\\(letter)" + String(repeating: "0", count: length - digits.utf8.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
    private static func isUnseen(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned: true
        case .lineSeparator, .paragraphSeparator, .spaceSeparator: true
        default: false
        }
    }
}
