internal import HandoffProxy
internal import SessionTrace

/// `handoff mark`: says to a running recorder what is done on the device.
struct MarkCommand {
    static let syntax = CommandSyntax(
        name: "mark", operands: "KIND [TARGET]", operandCount: 1...2,
        summary: "Tell a running handoff record what is done on the device: handoff mark tap --target share.",
        options: [
            .value("target", "WORD", "what is tapped: cta, share, neutral, policy, return or other"),
            .value("id", "ID", "the mark's name; a mark sent twice with one id counts once"),
            .value("at", "TIME", "when it happened, RFC 3339 with zone; default: when the recorder hears of it"),
            .value("until", "TIME", "it happened between --at and this"),
            .value("phase", "pre|post", "half of an interval: two marks with one id, before and after the tap"),
            .value("count", "N", "how many times (a double tap is 2)"),
            .value(
                "by", "person|script", "who makes it; default person (press, then touch), script with --phase or --at"),
            .value("device", "NAME", "the device, by name or address, when several are recorded"),
            .value("name", "TEXT", "a name for people: a scenario's"),
            .value("note", "TEXT", "further words"),
            .value(
                "attr", "NAME=VALUE", repeats: true,
                "an attribute: a scenario's label, the id that a withdraw takes back"),
            .value(
                "control", "FILE|ADDR:PORT",
                "the recorder's control file, or its address; default: where record puts it"),
            .value("token", "TOKEN", "the control API's token, with an address; default: the control file's"),
        ],
        notes: """
            Kinds: scenario launch render jit-shown tap background foreground restore opened return link-opened reload kill
            browser-clean net-off net-on withdraw note end; no other is sent. The recorder answers with the mark's time and sequence number.
            Exit status: 0 taken, 2 wrong usage or a mark that the recorder refused, 3 no recorder answers.
            """)

    /// The kinds that mean something.
    static let kinds = [
        "scenario", "launch", "render", "jit-shown", "tap", "background", "foreground", "restore", "opened", "return",
        "link-opened", "reload", "kill", "browser-clean", "net-off", "net-on", "withdraw", "note", "end",
    ]

    private enum Maker: String, CaseIterable {
        case person, script
    }

    private enum Phase: String, CaseIterable {
        case pre, post
    }

    private let handoff: Handoff
    private let arguments: Arguments

    init(handoff: Handoff, arguments: Arguments) {
        self.handoff = handoff
        self.arguments = arguments
    }

    func run() throws -> ExitStatus {
        let mark = try mark()
        let control: ControlFile
        do {
            control = try self.control()
        } catch let error as ControlFileError {
            handoff.console.complain("no recorder is running here: \(error); start handoff record, or give --control")
            return .unreadable
        }
        let answer: LocalHTTP.Answer
        do throws(LocalHTTP.Failure) {
            let client = try LocalHTTP(address: control.address)
            answer = try client.post("/marks", body: Array("\(mark)".utf8), token: control.token.text)
        } catch {
            handoff.console.complain(
                "no recorder answers at \(control.address): \(error.words); is handoff record running?")
            return .unreadable
        }
        let value = try? JSONValue.parse(answer.body)
        guard answer.status == 200, let value, value["sequence"] != nil else {
            let reason = value?["error"]?.stringValue ?? "it answered with status \(answer.status)"
            handoff.console.complain("the recorder refused the mark: \(reason)")
            return answer.status == 401 || answer.status >= 500 ? .unreadable : .usage
        }
        for warning in value["warnings"]?.elements ?? [] {
            handoff.console.complain("\(warning.stringValue ?? "\(warning)")")
        }
        handoff.console.result("\(value)\n")
        guard value["files"]?.elements?.isEmpty != true else {
            handoff.console.complain("the mark is in no trace: recording has stopped; start handoff record again")
            return .unreadable
        }
        return .conforming
    }

    /// The mark's object.
    private func mark() throws -> JSONValue {
        // A slip would be recorded as a mark that means nothing, or something else.
        let kind = try Self.known(arguments.operands[0], "kind", Self.kinds)
        var members = [JSONMember(name: "kind", value: .string(kind))]
        func add(_ name: String, _ text: String?) {
            if let text { members.append(JSONMember(name: name, value: .string(text))) }
        }
        let operand = arguments.operands.count > 1 ? arguments.operands[1] : nil
        guard operand == nil || arguments.value("target") == nil else {
            throw UsageError(message: "the target is given twice")
        }
        add(
            "target",
            try (operand ?? arguments.value("target")).map { (word: String) throws(UsageError) in
                try Self.known(word, "target", Mark.Target.allCases.map(\.rawValue))
            })
        // Sent again after a lost answer, the mark must count once.
        add("id", try arguments.value("id") ?? "mark-\(ControlSecret.random().text.prefix(12))")
        for name in ["at", "until"] {
            guard let text = arguments.value(name) else { continue }
            guard Instant(rfc3339: text) != nil else {
                throw UsageError(message: "--\(name) is an RFC 3339 time with a zone, as 2026-11-29T12:00:00.123456Z")
            }
            add(name, text)
        }
        let phase = try arguments.choice("phase", Phase.self)
        add("phase", phase?.rawValue)
        if let text = arguments.value("count") {
            guard let count = Int(text), count > 0 else {
                throw UsageError(message: "--count is a whole number from 1")
            }
            members.append(JSONMember(name: "count", value: .number(String(count))))
        }
        let isByScript = phase != nil || arguments.has("at")
        add("by", (try arguments.choice("by", Maker.self) ?? (isByScript ? .script : .person)).rawValue)
        add("device", arguments.value("device"))
        add("name", arguments.value("name"))
        var attributes: [JSONMember] = []
        for attribute in arguments.all("attr") {
            let parts = attribute.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2, !parts[0].isEmpty else { throw UsageError(message: "--attr takes NAME=VALUE") }
            attributes.append(JSONMember(name: parts[0], value: .string(parts[1])))
        }
        if let note = arguments.value("note") { attributes.append(JSONMember(name: "note", value: .string(note))) }
        if !attributes.isEmpty { members.append(JSONMember(name: "attrs", value: .object(attributes))) }
        return .object(members)
    }

    private static func known(_ word: String, _ what: String, _ words: [String]) throws(UsageError) -> String {
        guard words.contains(word) else {
            let hint = NearestWord.to(word, among: words).map { " (did you mean \($0)?)" } ?? ""
            throw UsageError(message: "\(what) '\(word)' is not known\(hint); known: \(words.joined(separator: ", "))")
        }
        return word
    }

    /// Where the recorder is, and its token.
    private func control() throws -> ControlFile {
        let given = arguments.value("control")
        if let given, LocalHTTP.isAddress(given) {
            if let token = arguments.value("token") {
                return ControlFile(address: given, token: ControlSecret(text: token))
            }
            var file = try standardFile()
            file.address = given
            return file
        }
        var file = try given.map { try ControlFile.read($0) } ?? standardFile()
        if let token = arguments.value("token") { file.token = ControlSecret(text: token) }
        return file
    }

    private func standardFile() throws -> ControlFile {
        guard let path = ControlFile.defaultPath(handoff.environment) else {
            throw UsageError(message: "neither XDG_RUNTIME_DIR nor HOME is set; give --control FILE")
        }
        guard !FileSystem.exists(path) else { return try ControlFile.read(path) }
        // The recorder that was started first has the usual file; it may have ended before the others.
        let folder = FileSystem.parent(of: path)
        let others = ((try? FileSystem.names(in: folder)) ?? [])
            .filter { $0.hasPrefix("control-") && $0.hasSuffix(".json") }.map { "\(folder)/\($0)" }
        guard others.count <= 1 else {
            throw UsageError(message: "several recorders run; name one: --control \(others.joined(separator: " or "))")
        }
        return try ControlFile.read(others.first ?? path)
    }
}
