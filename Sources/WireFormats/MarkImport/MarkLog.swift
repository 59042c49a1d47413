internal import SessionTrace

/// What a log reader found: marks on the log's clock, times of receipt, and what it could not use.
struct MarkLog: Sendable {
    /// Most marks of one log, as many as a side file may have.
    static let markLimit = MarkFile.markLimit
    /// Most times of receipt that are kept: two a second are, the fastest line's and the slowest's, for a day and more.
    static let receiptLimit = 200_000

    /// Most names of steps that are told apart.
    static let stepNameLimit = 64

    /// A mark, where it stands, and which clock stamped it.
    struct Found: Sendable {
        var mark: Mark
        var line: Int
        var isMonotonic: Bool
    }

    let labels: TapLabels
    var dating: LogDating
    private(set) var found: [Found] = []
    /// Times of receipt beside the lines' own stamps.
    private(set) var receipts: [ClockProbe] = []
    /// The second of the log's clock that receipts were last kept of, and the two that are kept of it.
    private var receiptSecond: Int64?
    private var fastestReceipt: Int?
    private var slowestReceipt: Int?
    /// Why lines were left out or need a look: how many, and the first.
    private(set) var remarks: [String: (count: Int, line: Int)] = [:]
    /// Steps of the test that are no taps and make no mark, by what they are called.
    private(set) var steps: [String: Int] = [:]
    /// The first mark with each id; the two halves of an interval have one, and differ by phase.
    private var named: [String: Mark] = [:]
    /// Lines that have the shape of the format.
    private(set) var understood = 0
    /// Whether one of them can be of no other format: many logs begin their lines with a time and a word in brackets.
    private(set) var isRecognised = false
    /// Lines that have not.
    private(set) var foreign = (count: 0, line: 0)

    init(labels: TapLabels, dating: LogDating) {
        self.labels = labels
        self.dating = dating
    }

    /// A line that may be of the format; with `isCertain`, one that can be of no other.
    mutating func understand(isCertain: Bool = true) {
        understood += 1
        isRecognised = isRecognised || isCertain
    }

    /// A line that is none of this format's.
    mutating func leaveOut(_ line: Int) {
        if foreign.count == 0 { foreign.line = line }
        foreign.count += 1
    }

    /// A line of the format of which something is to be told; `reason` is one of few texts.
    mutating func remark(_ reason: String, _ line: Int) {
        guard remarks.count < 64 || remarks[reason] != nil else { return }
        let known = remarks[reason] ?? (0, line)
        remarks[reason] = (known.count + 1, min(known.line, line))
    }

    /// A step that is no tap, by its name in few words: no value that it was given.
    mutating func step(_ name: String) {
        let name = steps.count < Self.stepNameLimit || steps[name] != nil ? name : "others"
        steps[name, default: 0] += 1
    }

    mutating func receive(_ host: LogStamp.Reading?, _ device: LogStamp.Reading, line: Int) {
        guard let host else { return }
        let probe = ClockProbe(receipt: host, device: device, line: line)
        let second = device.nanoseconds / 1_000_000_000
        if second == receiptSecond, let fastest = fastestReceipt, let slowest = slowestReceipt {
            if probe.most < receipts[fastest].most {
                if fastest == slowest {
                    fastestReceipt = keep(probe) ?? fastest
                } else {
                    receipts[fastest] = probe
                }
            } else if probe.most > receipts[slowest].most {
                if fastest == slowest {
                    slowestReceipt = keep(probe) ?? slowest
                } else {
                    receipts[slowest] = probe
                }
            }
        } else if let place = keep(probe) {
            receiptSecond = second
            fastestReceipt = place
            slowestReceipt = place
        }
    }

    private mutating func keep(_ probe: ClockProbe) -> Int? {
        guard receipts.count < Self.receiptLimit else { return nil }
        receipts.append(probe)
        return receipts.count - 1
    }

    mutating func add(_ mark: Mark, line: Int, isMonotonic: Bool) throws(MarkError) {
        guard found.count < Self.markLimit else {
            throw MarkError(line: line, column: 1, reason: "more than \(Self.markLimit) marks")
        }
        if let id = mark.id {
            let key = "\(mark.phase.map { "\($0)" } ?? "")/\(id)"
            if let first = named[key] {
                remark(
                    first == mark
                        ? "the id of an earlier mark, and the same mark: it counts once"
                        : "the id of an earlier mark, and another mark: they contradict each other (HC-04)", line)
            } else {
                named[key] = mark
            }
        }
        found.append(Found(mark: mark, line: line, isMonotonic: isMonotonic))
    }

    /// When a stamp was.
    mutating func reading(of value: LogStamp.Value, line: Int) throws(MarkError) -> LogStamp.Reading {
        switch value {
        case .seconds(let reading): return reading
        case .civil(let civil): return try dating.reading(of: civil, line: line)
        }
    }

    /// Takes the mark that the line says in words of ours: `handoff-mark {…}` or `handoff-mark/1 {…}` at the start of a
    /// word at or behind the cursor. True if there is one.
    ///
    /// The object's own `at` is on the clock of the log, and not later than the line: as for datagrams.
    mutating func takeOwnWords(
        _ cursor: LineCursor, stamp: LogStamp.Reading, line: Int
    ) throws(MarkError) -> Bool {
        var cursor = cursor
        while let place = cursor.find("handoff-mark") {
            let isWord = place == 0 || [0x20, 0x09, 0x3A, 0x5D].contains(cursor.bytes[place - 1])
            cursor.index = place
            _ = cursor.take("handoff-mark")
            _ = cursor.take("/1")
            guard isWord, cursor.next == 0x20 else { continue }
            cursor.skipSpaces()
            if cursor.rest.starts(with: "<private>".utf8) {
                throw MarkError(
                    line: line, column: cursor.column,
                    reason: "the mark is hidden: log its text with privacy: .public")
            }
            guard cursor.next == UInt8(ascii: "{") else { continue }
            let arrival = PacketReference(number: line, time: stamp.span.earliest)
            let read: ReadMark
            do throws(MarkError) {
                read = try MarkReader.read(Self.object(cursor.rest), source: .datagram, packet: arrival)
            } catch {
                throw MarkError(line: line, column: cursor.column + error.column - 1, reason: error.reason)
            }
            for warning in read.warnings { remark(warning, line) }
            var mark = read.mark
            mark.span = TimeSpan(mark.span.earliest, max(mark.span.latest, stamp.span.latest))
            mark.source = .sideFile
            mark.packet = nil
            mark.isOnTraceClock = false
            try add(mark, line: line, isMonotonic: stamp.isMonotonic)
            return true
        }
        return false
    }

    /// The bytes of the object that the text begins with; all of the text if it does not end.
    private static func object(_ text: ArraySlice<UInt8>) -> [UInt8] {
        var depth = 0
        var isInString = false
        var isEscaped = false
        for (offset, byte) in text.enumerated() {
            if isInString {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isInString = false
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): isInString = true
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                if depth == 0 { return Array(text.prefix(offset + 1)) }
            default: break
            }
        }
        return Array(text)
    }
}

/// A reader of one format: whole lines in, marks into the log.
protocol MarkLogReader: Sendable {
    mutating func take(_ line: LogLine, _ log: inout MarkLog) throws(MarkError)
    /// The log has ended.
    mutating func finish(_ log: inout MarkLog) throws(MarkError)
}
