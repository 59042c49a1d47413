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
///
/// A click that was refused (4xx) was not made. One that came to no answer or to another error perhaps was, and so was a
/// gesture by coordinates in which a finger goes down and up in one place: such marks are unsure (`TapLabels.unsureTap`).
struct AppiumLog: MarkLogReader {
    static let sessionLimit = 64
    static let elementLimit = 10_000
    /// How far a finger may move in a tap, in the units of the screen.
    static let tapLength = 32.0
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
        /// Whether it is a gesture, and not one that surely is no tap.
        var mayTap = false
    }

    private let zoneIsGiven: Bool
    /// By session: one handles one request after the other.
    private var requests: [String: Request] = [:]
    /// The time of the last line.
    private var last: LogStamp.Civil?
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
        last = civil ?? last
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
        for request in requests.values.sorted(by: { $0.line < $1.line }) { try leaveUnanswered(request, &log) }
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
        if let waiting = requests[session] { try leaveUnanswered(waiting, &log) }
        var request = Request(path: String(words[1]), command: command, line: line, taps: 0)
        switch command {
        case .click:
            request.taps = 1
        case .other(let name): log.step(name)
        case .gesture: request.mayTap = true
        case .script, .find: break
        }
        if let civil { request.stamp = try log.reading(of: .civil(civil), line: line) }
        requests[session] = request
        latest = session
    }

    /// A request whose answer is not in the log, up to the last line.
    private func leaveUnanswered(_ request: Request, _ log: inout MarkLog) throws(MarkError) {
        guard request.taps > 0 || request.mayTap else { return }
        try addUnsure(
            request, until: last,
            request.mayTap ? nil : "a tap without its answer, which perhaps was made: a mark without target", &log)
    }

    private func addUnsure(
        _ request: Request, until end: LogStamp.Civil?, _ remark: String?, _ log: inout MarkLog
    ) throws(MarkError) {
        guard let begun = request.stamp, let end else { throw Self.withoutTime(request) }
        log.remark(remark ?? "a gesture by coordinates, which may be a tap: a mark without target", request.line)
        let latest = try log.reading(of: .civil(end), line: request.line).span.latest
        let span = TimeSpan(begun.span.earliest, max(begun.span.latest, latest))
        try log.add(log.labels.unsureTap(span), line: request.line, isMonotonic: false)
    }

    private static func withoutTime(_ request: Request) -> MarkError {
        MarkError(line: request.line, column: 1, reason: "a tap without a time; run appium --log-timestamp")
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
        case .gesture:
            request.mayTap = Self.mayTap(value)
            if !request.mayTap { log.step("gesture") }
        case .click, .other: break
        }
        requests[session] = request
    }

    private static func number(_ value: JSONValue?) -> Double? {
        if case .number(let text)? = value { return Double(text) }
        return nil
    }

    /// Whether some finger goes down and up in one place (W3C WebDriver "Actions"); also where the body tells nothing of
    /// fingers in words that are known.
    private static func mayTap(_ value: JSONValue) -> Bool {
        guard let inputs = value["actions"]?.elements else { return true }
        return inputs.contains { input in
            guard let steps = input["actions"]?.elements else { return true }
            guard input["type"]?.stringValue == "pointer" else { return false }
            var place: (x: Double, y: Double)?
            var isDown = false
            var moved = (x: 0.0, y: 0.0)
            for step in steps {
                switch step["type"]?.stringValue {
                case "pointerDown":
                    isDown = true
                    moved = (0, 0)
                case "pointerMove":
                    guard let x = number(step["x"]), let y = number(step["y"]) else { continue }
                    if step["origin"]?.stringValue == "pointer" {
                        moved = (moved.x + x, moved.y + y)
                        place = place.map { ($0.x + x, $0.y + y) }
                    } else {
                        // From an unknown place, or on an element, the distance is not known.
                        let known = step["origin"].map { $0.stringValue == "viewport" } ?? true
                        if known, let place { moved = (moved.x + x - place.x, moved.y + y - place.y) }
                        place = known ? (x, y) : nil
                    }
                    if isDown, max(abs(moved.x), abs(moved.y)) > tapLength { isDown = false }
                case "pointerUp":
                    if isDown { return true }
                default: continue
                }
            }
            return false
        }
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
        let isRefused = words[2].utf8.count == 3 && words[2].hasPrefix("4")
        if case .find = request.command {
            if succeeded, let element = request.element, let label = request.label, labels.count < Self.elementLimit {
                labels["\(session)/\(element)"] = label
            }
            return
        }
        guard request.taps > 0 || request.mayTap else { return }
        if isRefused {
            log.remark("a tap that was answered with an error; no mark", request.line)
            return
        }
        guard succeeded, !request.mayTap else {
            return try addUnsure(
                request, until: civil,
                request.mayTap
                    ? nil : "a tap that was answered with an error, and perhaps was made: a mark without target", &log)
        }
        guard let begun = request.stamp, let civil else { throw Self.withoutTime(request) }
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
