internal import EventLoop
internal import SessionTrace

/// Plays the steps of a story, one after the other.
actor StoryPlayer {
    private let story: Story
    private let book: StoryBook
    private let device: StoryDevice
    private let backend: StoryBackend
    /// Where marks are made in band; nil: as datagrams.
    private let markAddress: String?
    private var values: [String: [UInt8]] = [:]
    private var times: [String: Instant] = [:]
    /// Lines of the side file of marks.
    private(set) var markLines: [String] = []
    private var pending: [Task<Void, any Error>] = []

    init(
        _ story: Story, of book: StoryBook, on device: StoryDevice, with backend: StoryBackend, markAddress: String?
    ) {
        self.story = story
        self.book = book
        self.device = device
        self.backend = backend
        self.markAddress = markAddress
    }

    /// Plays it to its end. Throws when it went otherwise than told.
    func play() async throws {
        for step in story.steps {
            do {
                try await play(step)
            } catch {
                throw StoryError(place: step.place, reason: "\(story.name): \(step.verb): \(error)")
            }
        }
        try await waitForAll()
    }

    private func play(_ step: StoryStep) async throws {
        switch step.verb {
        case "pause": try await Task.sleep(for: StoryTime.parse(step.words[0]) ?? .zero)
        case "let": values[step.words[0]] = try fill(step.words[1])
        case "operation":
            values["key"] = Array(LabText.uuid().utf8)
            values["body"] = try fill(try document("session-request"))
        case "serve": try serve(step)
        case "wait": try await waitForAll()
        case "close": await device.close(step.words[0])
        case "dial":
            let sender = step.option("by") ?? "app"
            let agent = try fields(of: sender).first { $0.name == "User-Agent" }?.value
            try await device.dial(try text(step.words[0]), from: sender, agent: agent)
        case "lookup":
            let type = step.option("type").flatMap { UInt16($0) } ?? LabNameMessage.addressType
            try await device.lookup(try text(step.words[0]), type: type)
        case "datagram":
            let place = step.words[0].split(separator: ":").map(String.init)
            guard place.count == 2, let port = UInt16(place[1]) else { throw LabError("HOST:PORT") }
            try await device.datagram(try fill(step.words[1]), to: place[0], port: port)
        case "send", "get", "post", "open":
            let request = try request(of: step)
            guard step.has("later") else { return try await send(request, step) }
            pending.append(Task { try await self.send(request, step) })
            // The request is on its way before the next step.
            try await Task.sleep(for: .milliseconds(15))
        case "kill":
            try await mark(step)
            await device.close("app")
        default: try await mark(step)
        }
    }

    private func waitForAll() async throws {
        for task in pending { try await task.value }
        pending = []
    }

    // MARK: Requests

    private struct Outgoing: Sendable {
        var request: LabRequest
        var host: String
        var sender: String
    }

    private func request(of step: StoryStep) throws(LabError) -> Outgoing {
        var method = "GET"
        var url = ""
        var sender = step.option("by") ?? "app"
        var added: [(name: String, value: String)] = []
        var body: [UInt8] = []
        if let text = step.option("body") { body = try fill(text) }
        switch step.verb {
        case "send":
            method = step.words[0]
            url = try text(step.words[1])
        case "post":
            method = "POST"
            url = "https://" + (try text(step.option("to") ?? "${partner}"))
            url += try text(step.option("path") ?? "${session-path}")
            if step.option("body") == nil { body = try fill("${body}") }
            let key = try text(step.option("key") ?? "${key}")
            if !key.isEmpty { added.append(("Idempotency-Key", key)) }
            if let credential = book.documents["credential"] { added.append(("Authorization", credential)) }
        case "open":
            url = try text(step.words[0])
            if step.option("by") == nil { sender = "browser" }
        default: url = try text(step.words[0])
        }
        if url.first == "/" { url = "https://" + (try text("${partner}")) + url }
        guard url.hasPrefix("https://") else { throw LabError("\(url) does not begin with https://") }
        let rest = url.dropFirst(8).prefix { $0 != "#" }
        let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        let host = String(rest[..<end])
        let target = end == rest.endIndex ? "/" : (rest[end] == "?" ? "/" : "") + rest[end...]
        if let type = step.option("type") ?? (body.isEmpty ? nil : "application/json") {
            added.append(("Content-Type", type))
        }
        for header in step.all("header") {
            let parts = try text(header).split(separator: ":", maxSplits: 1).map(String.init)
            if parts[0] == "Authorization" { added.removeAll { $0.name == "Authorization" } }
            added.append((parts[0], String((parts.count > 1 ? parts[1] : "").drop { $0 == " " })))
        }
        let own = try fields(of: sender)
        var fields: [(name: String, value: String)] = [("Host", host)]
        let replaced = Set(added.map { $0.name.lowercased() })
        fields += own.filter { !replaced.contains($0.name.lowercased()) }.map { ($0.name, $0.value) }
        // A field without a value takes the sender's own away.
        fields += added.filter { !$0.value.isEmpty }
        return Outgoing(
            request: LabRequest(method, target, fields: fields, body: body), host: host, sender: sender)
    }

    private func fields(of sender: String) throws(LabError) -> [StoryStep.Option] {
        let name = story.cast.last { $0.name == sender }?.value ?? sender
        guard let fields = book.senders[name] else { throw LabError("nobody is called \(name)") }
        return fields
    }

    private func send(_ outgoing: Outgoing, _ step: StoryStep) async throws {
        let name = step.option("as")
        let expected = step.option("expect") ?? ""
        let response: LabResponse
        do {
            let exchange = try await device.send(outgoing.request, to: outgoing.host, from: outgoing.sender)
            response = exchange.response
            if let name { times["\(name).sent"] = exchange.sent.earliest }
            let uncertainty = exchange.sent.latest.nanoseconds(since: exchange.sent.earliest)
            if step.has("tight"), uncertainty > 400_000 {
                throw LabError("when it was sent is known to \(uncertainty / 1_000) µs only")
            }
        } catch {
            guard expected == "lost" || expected == "any" else { throw error }
            return
        }
        if let name { times["\(name).done"] = WallClock.now() }
        switch expected {
        case "any": break
        case "": guard (200..<400).contains(response.status) else { throw LabError("was answered \(response.status)") }
        default:
            guard Int(expected) == response.status else {
                throw LabError("was to be \(expected), and was answered \(response.status)")
            }
        }
        let url = LabSession.handoffURL(in: response)
        if url.contains("phs_"), step.verb != "get" {
            let token = Array(url[(url.range(ofPrefix: "phs_") ?? url.startIndex)...].prefix { $0 != "?" }.utf8)
            for prefix in ["", name.map { "\($0)." } ?? ""] {
                values["\(prefix)url"] = Array(url.utf8)
                values["\(prefix)token"] = token
            }
        }
    }

    // MARK: Servers

    private func serve(_ step: StoryStep) throws {
        let kind = step.words[2]
        let isSession = kind == "session" || kind == "half"
        var url = try text(step.words[1])
        if url.first == "/" { url = try text("${partner}") + url }
        if url.hasPrefix("https://") { url = String(url.dropFirst(8)) }
        let slash = url.firstIndex(of: "/") ?? url.endIndex
        let body = try document(step.option("document") ?? (isSession ? "session-answer" : "empty"))
        let filled = try StoryText.fill(body) { name in
            isSession && name == "token" ? Array("${token}".utf8) : value(name)
        }
        var fields: [(name: String, value: String)] = [
            ("Content-Type", step.option("type") ?? "application/json"), ("Cache-Control", "no-store"),
        ]
        for header in step.all("header") {
            let parts = try text(header).split(separator: ":", maxSplits: 1).map(String.init)
            fields.removeAll { $0.name.lowercased() == parts[0].lowercased() }
            fields.append((parts[0], String((parts.count > 1 ? parts[1] : "").drop { $0 == " " })))
        }
        backend.add(
            StoryBackend.Service(
                method: step.words[0], host: String(url[..<slash]),
                path: slash == url.endIndex ? "/" : String(url[slash...]), kind: kind, fields: fields, body: filled,
                delay: step.option("delay").flatMap(StoryTime.parse) ?? .zero,
                times: step.option("times").flatMap(Int.init)))
    }

    private func document(_ name: String) throws(LabError) -> String {
        guard let text = book.documents[name] else { throw LabError("there is no document \(name)") }
        return text
    }

    // MARK: Marks

    private func mark(_ step: StoryStep) async throws {
        var members: [(name: String, value: String)] = []
        switch step.verb {
        case "mark": members.append(("kind", step.words[0]))
        case "tap":
            members.append(("kind", "tap"))
            if let target = step.words.first { members.append(("target", target)) }
        case "scenario":
            members += [("kind", "scenario"), ("name", step.option("name") ?? story.name)]
        default: members.append(("kind", step.verb))
        }
        if step.option("by") == nil { members.append(("by", "script")) }
        for option in step.options where option.name != "way" && option.name != "name" {
            let isTime = option.name == "at" || option.name == "until"
            members.append((option.name, isTime ? try time(option.value) : try text(option.value)))
        }
        if step.option("way") == "file" {
            if !members.contains(where: { $0.name == "at" }) { members.append(("at", WallClock.now().rfc3339)) }
            return markLines.append(Self.object(members))
        }
        guard let markAddress, step.option("way") != "datagram" else {
            return try await device.mark(Self.object(members))
        }
        let query = members.map { "\($0.name)=\(Self.percent($0.value))" }.joined(separator: "&")
        let answer = try await device.fetchInClear(markAddress + "?" + query)
        guard answer.status == 200 || answer.status == 204 else {
            throw LabError("was answered \(answer.status): \(answer.text)")
        }
    }

    private static func percent(_ text: String) -> String {
        String(decoding: StoryText.filter("percent", Array(text.utf8)) ?? [], as: UTF8.self)
    }

    /// The members as one JSON object.
    private static func object(_ members: [(name: String, value: String)]) -> String {
        func quoted(_ text: String) -> String {
            "\"" + String(decoding: StoryText.filter("json-string", Array(text.utf8)) ?? [], as: UTF8.self) + "\""
        }
        let attributes = members.filter { $0.name.hasPrefix("attrs.") }
        var parts = members.filter { !$0.name.hasPrefix("attrs.") }.map { member in
            "\(quoted(member.name)):" + (member.name == "count" ? member.value : quoted(member.value))
        }
        if !attributes.isEmpty {
            let inner = attributes.map { "\(quoted(String($0.name.dropFirst(6)))):\(quoted($0.value))" }
            parts.append("\"attrs\":{\(inner.joined(separator: ","))}")
        }
        return "{\(parts.joined(separator: ","))}"
    }

    /// `now`, `now-20ms`, `NAME.sent+51ms`, as RFC 3339.
    private func time(_ text: String) throws(LabError) -> String {
        let sign = text.lastIndex { $0 == "+" || $0 == "-" }
        let shift = sign.flatMap { StoryTime.parse(String(text[$0...])) }
        let name = shift == nil ? text : String(text[..<(sign ?? text.endIndex)])
        guard let base = name == "now" ? WallClock.now() : times[name] else {
            throw LabError("no time is called \(name)")
        }
        let (seconds, attoseconds) = (shift ?? .zero).components
        return base.advanced(byNanoseconds: seconds * 1_000_000_000 + attoseconds / 1_000_000_000).rfc3339
    }

    // MARK: Values

    private func text(_ text: String) throws(LabError) -> String { String(decoding: try fill(text), as: UTF8.self) }

    private func fill(_ text: String) throws(LabError) -> [UInt8] { try StoryText.fill(text, value) }

    private func value(_ name: String) -> [UInt8]? {
        switch name {
        case "now": Array(WallClock.now().rfc3339.utf8)
        case "uuid": Array(LabText.uuid().utf8)
        case "random": Array(LabText.token(length: 43).utf8)
        default:
            // What nobody changed stands for the document of that name.
            values[name] ?? book.documents[name].flatMap { try? StoryText.fill($0, value) }
        }
    }
}

extension String {
    /// Where a text begins in this one.
    fileprivate func range(ofPrefix text: String) -> Index? {
        indices.first { self[$0...].hasPrefix(text) }
    }
}
