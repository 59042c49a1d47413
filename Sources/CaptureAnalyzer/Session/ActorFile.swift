internal import SessionTrace

/// Process evidence from elsewhere (`--actors`, docs/actors.md): JSON Lines, one fact a line. Sockets with their owners,
/// activity starts, and which actor uses which listener of the proxy.
struct ActorFile: Sendable {
    /// Who owned a socket at some time.
    struct Socket: Hashable, Sendable {
        var span: TimeSpan
        var local: Endpoint
        /// Nil where the source does not tell.
        var remote: Endpoint?
        /// Whether it is a UDP socket, not a TCP one: the two have ports of their own.
        var isUDP = false
        var process: ProcessIdentity

        /// Whether a connection of this kind can be the socket's.
        func carries(_ transport: Connection.Transport) -> Bool {
            switch transport {
            case .tcp: !isUDP
            case .udp, .quic: isUDP
            case .tunnel: false
            }
        }
    }

    private(set) var sockets: [Socket] = []
    private(set) var activities: [ActivityStart] = []
    /// The actor's word for each port of the proxy.
    private(set) var listeners: [UInt16: String] = [:]

    /// Whether it tells nothing.
    var isEmpty: Bool { sockets.isEmpty && activities.isEmpty && listeners.isEmpty }

    /// Most facts read from one file.
    static let factLimit = 1_000_000

    /// Reads the bytes of a file; `name` is how errors call it. Blank lines, CR LF and a byte order mark are taken.
    init(_ bytes: [UInt8], name: String) throws(TraceError) {
        let content = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
        var line = 0
        var facts = 0
        for slice in content.split(separator: 0x0A, omittingEmptySubsequences: false) {
            line += 1
            guard slice.contains(where: { $0 != 0x20 && $0 != 0x09 && $0 != 0x0D }) else { continue }
            facts += 1
            guard facts <= Self.factLimit else {
                throw TraceError("\(name):\(line): more than \(Self.factLimit) facts; split the file")
            }
            do throws(ActorLineError) {
                try read(Array(slice), origin: "\(name):\(line)")
            } catch {
                let column = error.column.map { ":\($0)" } ?? ""
                throw TraceError("\(name):\(line)\(column): \(error.reason); mend the line or leave it out")
            }
        }
    }

    private mutating func read(_ text: [UInt8], origin: String) throws(ActorLineError) {
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONValue.parse(text, limits: JSONLimits(bytes: 64 << 10, depth: 4, values: 100))
        } catch {
            throw ActorLineError(reason: error.reason, column: error.column)
        }
        let line = try ActorLine(value)
        switch try line.text("kind") {
        case "socket": sockets.append(try line.socket())
        case "activity": activities.append(try line.activity(origin: origin))
        case "listener":
            let (port, actor) = try line.listener()
            if let known = listeners[port], known != actor {
                throw ActorLineError(
                    reason: "port \(port) is the \(known)'s by an earlier line, and can't be the \(actor)'s too")
            }
            listeners[port] = actor
        case let kind:
            let nearest = NearestWord.to(kind, among: ["socket", "activity", "listener"])
            throw ActorLineError(
                reason: "unknown kind \"\(kind.prefix(40))\"" + (nearest.map { "; did you mean \"\($0)\"?" } ?? ""),
                column: nil)
        }
    }
}

/// What is wrong with one line.
struct ActorLineError: Error {
    var reason: String
    var column: Int?
}

/// The members of one line.
private struct ActorLine {
    let value: JSONValue

    init(_ value: JSONValue) throws(ActorLineError) {
        guard case .object(let members) = value else { throw ActorLineError(reason: "is no JSON object") }
        var names: Set<String> = []
        if let twice = members.first(where: { !names.insert($0.name).inserted }) {
            throw ActorLineError(reason: "\"\(twice.name.prefix(40))\" is given twice")
        }
        self.value = value
    }

    func text(_ name: String) throws(ActorLineError) -> String {
        guard let text = try optionalText(name) else { throw ActorLineError(reason: "needs \"\(name)\"") }
        return text
    }

    func optionalText(_ name: String) throws(ActorLineError) -> String? {
        guard let member = value[name] else { return nil }
        guard let text = member.stringValue, !text.isEmpty, text.utf8.count <= 512 else {
            throw ActorLineError(reason: "\"\(name)\" must be a text of 1 to 512 bytes")
        }
        return text
    }

    func number(_ name: String) throws(ActorLineError) -> Int32? {
        guard let member = value[name] else { return nil }
        guard case .number(let text) = member, let number = Int32(text) else {
            throw ActorLineError(reason: "\"\(name)\" must be a whole number")
        }
        return number
    }

    /// `at` and `until`.
    func span() throws(ActorLineError) -> TimeSpan {
        let start = try instant(try text("at"), "at")
        guard let until = try optionalText("until") else { return TimeSpan(start) }
        let end = try instant(until, "until")
        guard end >= start else { throw ActorLineError(reason: "\"until\" lies before \"at\"") }
        return TimeSpan(start, end)
    }

    private func instant(_ text: String, _ name: String) throws(ActorLineError) -> Instant {
        guard let instant = Instant(rfc3339: text) else {
            throw ActorLineError(
                reason:
                    "\"\(name)\" must be a time with a zone, such as 2026-11-30T02:38:37.897Z, not \"\(text.prefix(40))\""
            )
        }
        return instant
    }

    func endpoint(_ name: String) throws(ActorLineError) -> Endpoint? {
        guard let text = try optionalText(name) else { return nil }
        guard let (host, port) = HostName.parse(authority: text), let address = host.address, let port else {
            throw ActorLineError(
                reason:
                    "\"\(name)\" must be an address and port such as 10.0.0.2:41000 or [2001:db8::2]:41000, not \"\(text.prefix(60))\""
            )
        }
        return Endpoint(address: address, port: port)
    }

    func socket() throws(ActorLineError) -> ActorFile.Socket {
        guard let local = try endpoint("local") else { throw ActorLineError(reason: "needs \"local\"") }
        let name = try text("process")
        let source: ProcessIdentity.Source
        switch try optionalText("source") {
        case "pcapd": source = .pcapd
        case "socket-table", nil: source = .socketTable
        case let word?:
            throw ActorLineError(
                reason: "\"source\" must be \"pcapd\" or \"socket-table\", not \"\(word.prefix(40))\"")
        }
        let isUDP: Bool
        switch try optionalText("protocol") {
        case "tcp", nil: isUDP = false
        case "udp": isUDP = true
        case let word?:
            throw ActorLineError(reason: "\"protocol\" must be \"tcp\" or \"udp\", not \"\(word.prefix(40))\"")
        }
        return ActorFile.Socket(
            span: try span(), local: local, remote: try endpoint("remote"), isUDP: isUDP,
            process: ProcessIdentity(
                source: source, name: name, processID: try number("pid"), effectiveName: try optionalText("effective"),
                userID: try number("uid")))
    }

    func activity(origin: String) throws(ActorLineError) -> ActivityStart {
        let component = try text("component")
        guard component.contains("/") else {
            throw ActorLineError(
                reason:
                    "\"component\" must be PACKAGE/CLASS such as com.android.chrome/org.chromium.chrome.browser.ChromeTabbedActivity"
            )
        }
        let host = try optionalText("host")
        return ActivityStart(
            span: try span(), component: component, action: try optionalText("action"),
            host: host.flatMap { HostName($0) }, origin: origin)
    }

    func listener() throws(ActorLineError) -> (UInt16, String) {
        guard let port = try number("port").flatMap({ UInt16(exactly: $0) }), port > 0 else {
            throw ActorLineError(reason: "needs \"port\", a number from 1 to 65535")
        }
        let actor = try text("actor")
        guard actor == "app" || actor == "browser" else {
            throw ActorLineError(reason: "\"actor\" must be \"app\" or \"browser\", not \"\(actor.prefix(40))\"")
        }
        return (port, actor)
    }
}

extension ActorLineError {
    init(reason: String) { self.init(reason: reason, column: nil) }
}
