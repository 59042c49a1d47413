internal import SessionTrace

/// Touches in the output of `adb shell getevent -lt` (AOSP `toolbox/getevent.c`; source.android.com "Getevent").
///
/// ```
/// [   12345.678901] /dev/input/event2: EV_ABS       ABS_MT_TRACKING_ID   0000119b
/// [   12345.678901] /dev/input/event2: EV_KEY       BTN_TOUCH            DOWN
/// [   12345.678901] /dev/input/event2: EV_SYN       SYN_REPORT           00000000
/// ```
///
/// The stamps are the kernel's, on CLOCK_MONOTONIC, which stands still in suspend: `/proc/uptime` does not, and must not
/// be used to convert them. A view is clicked when the finger leaves it, so that a tap lasts from DOWN to UP; a finger that
/// moves away in between scrolls or drags, and its mark's target is `other`. Fingers are
/// told apart by slot (protocol B of the kernel's multi-touch documentation); a screen of protocol A, which repeats every
/// finger in each report, by BTN_TOUCH alone. `input tap` works above evdev and is not seen here.
struct GeteventLog: MarkLogReader {
    static let screenLimit = 64
    static let slotLimit = 32
    /// Events of one report; a driver sends some twenty.
    static let reportLimit = 4_096
    /// A finger that moves farther than this, and than one in `slackDivisor` of the largest coordinate, taps nothing.
    static let slack = 32
    static let slackDivisor = 20

    private enum Event: Sendable {
        case slot(Int), finger(Int), fingerGone, x(Int), y(Int), down, up, report, fingerReport
    }

    private struct Head {
        var stamp: LogStamp.Reading
        var device: [UInt8]
        var words: [[UInt8]]
    }

    private struct Contact: Sendable {
        var finger: Int?
        var start: LogStamp.Reading
        var line: Int
        var first: Position?
        /// How far it has been from there, along either axis.
        var distance = 0

        /// The finger is there now.
        mutating func move(to position: Position?) {
            first = first ?? position
            for (one, other) in [(first?.x, position?.x), (first?.y, position?.y)] {
                if let one, let other { distance = max(distance, abs(other - one)) }
            }
        }
    }

    private struct Position: Hashable, Sendable {
        var x: Int?
        var y: Int?
    }

    private struct Screen: Sendable {
        var events: [Event] = []
        var slot = 0
        var repeatsFingers = false
        var contacts: [Int: Contact] = [:]
        /// A touch that only BTN_TOUCH tells of.
        var touch: Contact?
        /// Where each slot's finger is; the kernel leaves out what has not changed, over touches too.
        var positions: [Int: Position] = [:]
        /// The largest coordinate so far: what the screen has at least.
        var largest = 0
    }

    private var screens: [[UInt8]: Screen] = [:]

    mutating func take(_ line: LogLine, _ log: inout MarkLog) throws(MarkError) {
        var cursor = LineCursor(line.bytes)
        guard let (receipt, head) = cursor.received(Self.head) else {
            if cursor.take("/dev/input/") {
                throw MarkError(line: line.number, column: 1, reason: "the lines have no times; run getevent -lt")
            }
            let isHeader =
                line.bytes.first == 0x20 || cursor.take("add device") || cursor.take("remove device")
                || cursor.take("could not get")
            if !isHeader { log.leaveOut(line.number) }
            return
        }
        log.understand()
        log.receive(receipt, head.stamp, line: line.number)
        guard let event = Self.event(head.words) else { return }
        guard screens[head.device] != nil || screens.count < Self.screenLimit else {
            log.remark("more than \(Self.screenLimit) input devices", line.number)
            return
        }
        if case .report = event {
            try report(head, line.number, &log)
        } else if screens[head.device, default: Screen()].events.count < Self.reportLimit {
            screens[head.device, default: Screen()].events.append(event)
        } else {
            log.remark("a report of more than \(Self.reportLimit) events", line.number)
        }
    }

    mutating func finish(_ log: inout MarkLog) throws(MarkError) {
        for screen in screens.values {
            for (slot, contact) in screen.contacts {
                log.remark("a touch without its end; its mark is the moment of DOWN", contact.line)
                try Self.add(contact, on: screen, screen.positions[slot], contact.start, &log)
            }
            if let touch = screen.touch {
                log.remark("a touch without its end; its mark is the moment of DOWN", touch.line)
                try Self.add(touch, on: screen, screen.positions[0], touch.start, &log)
            }
        }
    }

    private mutating func report(_ head: Head, _ line: Int, _ log: inout MarkLog) throws(MarkError) {
        var screen = screens[head.device] ?? Screen()
        let events = screen.events
        screen.events = []
        var isDown = false
        var isUp = false
        if events.contains(where: { if case .fingerReport = $0 { true } else { false } }) {
            screen.repeatsFingers = true
            screen.contacts = [:]
        }
        for event in events {
            switch event {
            case .slot(let slot):
                if !(0..<Self.slotLimit).contains(slot) { log.remark("a slot beyond \(Self.slotLimit)", line) }
                screen.slot = min(max(slot, 0), Self.slotLimit)
            case .finger(let finger):
                guard !screen.repeatsFingers, screen.contacts[screen.slot]?.finger != finger else { continue }
                try Self.end(screen.slot, &screen, head.stamp, &log)
                screen.contacts[screen.slot] = Contact(finger: finger, start: head.stamp, line: line)
            case .fingerGone:
                try Self.end(screen.slot, &screen, head.stamp, &log)
            case .x(let x):
                screen.positions[screen.slot, default: Position()].x = x
                screen.largest = max(screen.largest, x)
            case .y(let y):
                screen.positions[screen.slot, default: Position()].y = y
                screen.largest = max(screen.largest, y)
            case .down: isDown = true
            case .up: isUp = true
            case .report, .fingerReport: break
            }
        }
        if isDown, screen.contacts.isEmpty, screen.touch == nil {
            screen.touch = Contact(start: head.stamp, line: line)
        }
        for slot in Array(screen.contacts.keys) { screen.contacts[slot]?.move(to: screen.positions[slot]) }
        screen.touch?.move(to: screen.positions[screen.slot])
        if isUp {
            for slot in screen.contacts.keys.sorted() { try Self.end(slot, &screen, head.stamp, &log) }
            if let touch = screen.touch {
                try Self.add(touch, on: screen, screen.positions[screen.slot], head.stamp, &log)
            }
            screen.touch = nil
        }
        screens[head.device] = screen
    }

    private static func end(
        _ slot: Int, _ screen: inout Screen, _ stamp: LogStamp.Reading, _ log: inout MarkLog
    ) throws(MarkError) {
        guard let contact = screen.contacts.removeValue(forKey: slot) else { return }
        try add(contact, on: screen, screen.positions[slot], stamp, &log)
    }

    private static func add(
        _ contact: Contact, on screen: Screen, _ last: Position?, _ end: LogStamp.Reading, _ log: inout MarkLog
    ) throws(MarkError) {
        var contact = contact
        contact.move(to: last)
        var mark = log.labels.tap(on: nil, TimeSpan(contact.start.span.earliest, end.span.latest))
        if let first = contact.first, let x = first.x, let y = first.y {
            mark.attributes = ["x": "\(x)", "y": "\(y)"]
            let lastX = last?.x ?? x
            let lastY = last?.y ?? y
            if lastX != x || lastY != y {
                mark.attributes["to-x"] = "\(lastX)"
                mark.attributes["to-y"] = "\(lastY)"
            }
            if !log.labels.regions.isEmpty {
                let region = log.labels.regions.last { region in
                    region.xs.contains(x) && region.ys.contains(y) && region.xs.contains(lastX)
                        && region.ys.contains(lastY)
                }
                mark.target = region?.target ?? .other
            }
        }
        if contact.distance > max(slack, screen.largest / slackDivisor) { mark.target = .other }
        if mark.target == nil { log.remark("a touch of which no region says what it was on", contact.line) }
        try log.add(mark, line: contact.line, isMonotonic: contact.start.isMonotonic)
    }

    private static func head(_ cursor: inout LineCursor) -> Head? {
        guard cursor.take("[") else { return nil }
        cursor.skipSpaces()
        guard let stamp = cursor.seconds(), cursor.take("]") else { return nil }
        cursor.skipSpaces()
        var words: [[UInt8]] = []
        while let word = cursor.word() {
            words.append(Array(word))
            cursor.skipSpaces()
        }
        var device: [UInt8] = []
        if let first = words.first, first.last == UInt8(ascii: ":") {
            device = first
            words.removeFirst()
        }
        guard words.count >= 3 else { return nil }
        return Head(stamp: stamp, device: device, words: words)
    }

    /// The event of type, code and value, by name (`-l`) or number; nil for those that say nothing of touches.
    private static func event(_ words: [[UInt8]]) -> Event? {
        let value = String(decoding: words[2], as: UTF8.self)
        let number = UInt32(value, radix: 16).map { Int(Int32(bitPattern: $0)) }
        switch String(decoding: words[1], as: UTF8.self) {
        case "ABS_MT_SLOT": return number.map { .slot($0) }
        case "ABS_MT_TRACKING_ID": return number.map { $0 == -1 ? .fingerGone : .finger($0) }
        case "ABS_MT_POSITION_X", "ABS_X": return number.map { .x($0) }
        case "ABS_MT_POSITION_Y", "ABS_Y": return number.map { .y($0) }
        case "BTN_TOUCH": return value == "DOWN" || number == 1 ? .down : value == "UP" || number == 0 ? .up : nil
        case "SYN_REPORT": return .report
        case "SYN_MT_REPORT": return .fingerReport
        case let code:
            switch (String(decoding: words[0], as: UTF8.self), code) {
            case ("0003", "002f"): return number.map { .slot($0) }
            case ("0003", "0039"): return number.map { $0 == -1 ? .fingerGone : .finger($0) }
            case ("0003", "0035"), ("0003", "0000"): return number.map { .x($0) }
            case ("0003", "0036"), ("0003", "0001"): return number.map { .y($0) }
            case ("0001", "014a"): return number == 1 ? .down : number == 0 ? .up : nil
            case ("0000", "0000"): return .report
            case ("0000", "0002"): return .fingerReport
            default: return nil
            }
        }
    }
}
