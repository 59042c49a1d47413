internal import SessionTrace

/// Taps in an Appium server's log with times (`appium --log-timestamp`; appium.io "Server Command-Line Arguments").
///
/// ```
/// 2026-11-30 05:10:31:297 [HTTP] --> POST /session/1ba86385-06a8/element
/// 2026-11-30 05:10:31:297 [HTTP] {"using":"accessibility id","value":"Share selection and continue"}
/// 2026-11-30 05:10:31:310 [XCUITestDriver@36 (1ba86385)] Responding to client with driver.findElement() result: {…"ELEMENT":"98"}
/// 2026-11-30 05:10:31:312 [HTTP] <-- POST /session/1ba86385-06a8/element 200 15 ms - 137
/// 2026-11-30 05:10:31:320 [HTTP] --> POST /session/1ba86385-06a8/element/98/click
/// 2026-11-30 05:10:31:801 [HTTP] <-- POST /session/1ba86385-06a8/element/98/click 200 481 ms - 14
/// ```
///
/// A tap lasts from the request of a click to its answer with 200. Its label is what the element was found by: an id, or
/// the one quoted text in an XPath, predicate or UiSelector. Stamps are UTC unless Appium ran with `--local-timezone`.
struct AppiumLog: MarkLogReader {
    static let sessionLimit = 64
    static let elementLimit = 10_000
    private static let limits = JSONLimits(bytes: LogLines.lineLimit, depth: 32, values: 10_000)

    private enum Command: Sendable {
        case find
        case click(element: String)
        case script
        case gesture
        case other(name: String)
    }

    /// A request that waits for its answer.
    private struct Request: Sendable {
        var path: String
        var command: Command
        var stamp: LogStamp.Reading?
        var line: Int
        /// What a find looks for, or what a script taps.
        var label: String?
        /// The element that a find found.
        var element: String?
        /// How many taps; 0 when it is none.
        var taps: Int
    }

    private let zoneIsGiven: Bool
    /// By session: one handles one request after the other.
    private var requests: [String: Request] = [:]
    /// The session whose request came last, and whose body may follow.
    private var latest: String?
    /// Labels by session and element.
    private var labels: [String: String] = [:]

    init(zoneIsGiven: Bool) {
        self.zoneIsGiven = zoneIsGiven
    }

    mutating func take(_ line: LogLine, _ log: inout MarkLog) throws(MarkError) {
        var cursor = LineCursor(line.bytes)
        let civil = cursor.civil()
        guard civil?.year != nil || cursor.next == UInt8(ascii: "[") else {
            log.leaveOut(line.number)
            return
        }
        // Its requests are what makes it one of Appium.
        log.understand(isCertain: cursor.find("[HTTP] ") != nil)
        if !zoneIsGiven, cursor.find("localTimezone") != nil, cursor.find("true") != nil {
            throw MarkError(
                line: line.number, column: 1, reason: "the times are local (--local-timezone); give --zone, as +01:00")
        }
        if let place = cursor.find("[HTTP] ") {
            cursor.index = place
            _ = cursor.take("[HTTP] ")
            if cursor.take("--> ") {
                try request(cursor, civil, line.number, &log)
            } else if cursor.take("<-- ") {
                try answer(cursor, civil, line.number, &log)
            } else if cursor.next == UInt8(ascii: "{") {
                body(cursor, line.number, &log)
            }
        } else if let place = cursor.find("Responding to client with driver.findElement") {
            found(String(decoding: cursor.bytes[cursor.index..<place], as: UTF8.self), place, cursor)
        }
    }

    mutating func finish(_ log: inout MarkLog) throws(MarkError) {
        for request in requests.values where request.taps > 0 {
            log.remark("a tap without its answer; no mark", request.line)
        }
    }

    private mutating func request(
        _ cursor: LineCursor, _ civil: LogStamp.Civil?, _ line: Int, _ log: inout MarkLog
    ) throws(MarkError) {
        let words = String(decoding: cursor.rest, as: UTF8.self).split(separator: " ")
        latest = nil
        guard words.count >= 2, words[0] == "POST", let (session, command) = Self.command(words[1]) else { return }
        guard requests[session] != nil || requests.count < Self.sessionLimit else {
            log.remark("more than \(Self.sessionLimit) sessions", line)
            return
        }
        if let waiting = requests[session], waiting.taps > 0 {
            log.remark("a tap without its answer; no mark", waiting.line)
        }
        var request = Request(path: String(words[1]), command: command, line: line, taps: 0)
        switch command {
        case .click:
            request.taps = 1
        case .other(let name): log.step(name)
        case .script, .find, .gesture: break
        }
        if let civil { request.stamp = try log.reading(of: .civil(civil), line: line) }
        requests[session] = request
        latest = session
    }

    /// The request's own JSON, on the line behind it.
    private mutating func body(_ cursor: LineCursor, _ line: Int, _ log: inout MarkLog) {
        guard let session = latest, var request = requests[session] else { return }
        latest = nil
        guard let value = try? JSONValue.parse(Array(cursor.rest), limits: Self.limits) else { return }
        switch request.command {
        case .find:
            request.label = Self.label(using: value["using"]?.stringValue, value: value["value"]?.stringValue)
        case .script:
            guard let script = value["script"]?.stringValue else { break }
            guard let taps = Self.taps(of: script) else {
                log.step(Self.name(ofScript: script))
                break
            }
            request.taps = taps
            let arguments = value["args"]?.elements?.first ?? value["args"]
            let element = arguments?["elementId"]?.stringValue ?? arguments?["element"]?.stringValue
            request.label = element.flatMap { labels["\(session)/\($0)"] }
        case .click, .gesture, .other: break
        }
        requests[session] = request
    }

    /// The answer to a find, from the driver of one session.
    private mutating func found(_ driver: String, _ place: Int, _ cursor: LineCursor) {
        let finds = requests.filter { if case .find = $0.value.command { true } else { false } }
        let named = finds.filter { driver.contains("(\($0.key.prefix(8)))") }
        // A driver of no name can only mean the one find that waits.
        let candidates = named.isEmpty && !driver.contains("(") ? finds : named
        guard candidates.count == 1, let session = candidates.keys.first, let open = cursor.find("result: ") else {
            return
        }
        var cursor = cursor
        cursor.index = max(place, open)
        _ = cursor.take("result: ")
        guard let value = try? JSONValue.parse(Array(cursor.rest), limits: Self.limits) else { return }
        var object = value
        if let elements = value.elements {
            guard elements.count == 1, let only = elements.first else { return }
            object = only
        }
        requests[session]?.element =
            object["element-6066-11e4-a52e-4f735466cecf"]?.stringValue ?? object["ELEMENT"]?.stringValue
    }

    private mutating func answer(
        _ cursor: LineCursor, _ civil: LogStamp.Civil?, _ line: Int, _ log: inout MarkLog
    ) throws(MarkError) {
        let words = String(decoding: cursor.rest, as: UTF8.self).split(separator: " ")
        guard words.count >= 3, words[0] == "POST", let (session, _) = Self.command(words[1]),
            let request = requests[session], request.path == words[1]
        else { return }
        requests[session] = nil
        let succeeded = words[2] == "200"
        if case .find = request.command {
            if succeeded, let element = request.element, let label = request.label, labels.count < Self.elementLimit {
                labels["\(session)/\(element)"] = label
            }
            return
        }
        if case .gesture = request.command {
            log.remark(
                "a gesture by coordinates: whether it is a tap, and on what, is not known; no mark", request.line)
            return
        }
        guard request.taps > 0 else { return }
        guard succeeded else {
            log.remark("a tap that was answered with an error; no mark", request.line)
            return
        }
        guard let begun = request.stamp, let civil else {
            throw MarkError(line: request.line, column: 1, reason: "a tap without a time; run appium --log-timestamp")
        }
        var label = request.label
        if case .click(let element) = request.command { label = labels["\(session)/\(element)"] }
        if label == nil { log.remark("a tap on something that was not found by a text", request.line) }
        let end = try log.reading(of: .civil(civil), line: line)
        let mark = log.labels.tap(
            on: label, TimeSpan(begun.span.earliest, end.span.latest), count: request.taps)
        try log.add(mark, line: request.line, isMonotonic: false)
    }

    /// Session and command of a WebDriver path, whatever base path stands before it.
    private static func command(_ path: Substring) -> (session: String, command: Command)? {
        let parts = path.split(separator: "/")
        guard let place = parts.firstIndex(of: "session"), parts.count > place + 2 else { return nil }
        let rest = parts[(place + 2)...].map(String.init)
        let command: Command
        switch rest.count {
        case 3 where rest[0] == "element" && rest[2] == "click": command = .click(element: rest[1])
        case 1 where rest[0] == "element" || rest[0] == "elements": command = .find
        case 3 where rest[0] == "element" && (rest[2] == "element" || rest[2] == "elements"): command = .find
        case 2 where rest == ["execute", "sync"]: command = .script
        case 1 where rest[0] == "execute": command = .script
        case 1 where rest[0] == "actions": command = .gesture
        case 2 where rest[0] == "touch": command = .gesture
        default: command = .other(name: rest.last.map { String($0.prefix(40)) } ?? "")
        }
        return (String(parts[place + 1]), command)
    }

    /// The text that a selector looks for; nil if it names none, or several.
    private static func label(using: String?, value: String?) -> String? {
        guard let using, let value else { return nil }
        switch using {
        case "accessibility id", "id", "name", "link text": return value
        default:
            for quote in ["\"", "'"] as [Character] {
                let parts = value.split(separator: quote, omittingEmptySubsequences: false)
                if parts.count == 3 { return String(parts[1]) }
            }
            return nil
        }
    }

    /// `mobile: swipe` and the like; a page's own script is no more than one.
    private static func name(ofScript script: String) -> String {
        let name = script.prefix(40)
        let isCommand = name.hasPrefix("mobile: ") && name.dropFirst(8).allSatisfy { $0.isLetter || $0.isNumber }
        return isCommand ? String(name) : "script"
    }

    private static func taps(of script: String) -> Int? {
        switch script {
        case "mobile: tap", "mobile: clickGesture": 1
        case "mobile: doubleTap", "mobile: doubleClickGesture": 2
        default: nil
        }
    }
}
