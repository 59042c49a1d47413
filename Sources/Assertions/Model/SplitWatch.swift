internal import SessionTrace

/// A token that left the device in pieces.
struct SplitLeak: Hashable, Sendable {
    /// How much of it was there.
    enum Extent: Hashable, Sendable {
        /// Nearly all of it, in order: this many hundredths.
        case whole(percent: Int)
        /// One stretch of this many bytes.
        case part(bytes: Int)
    }

    var needle: Needle
    var extent: Extent
    /// Where: a location, or several.
    var places: [String]
    /// The messages that carried it, told as leaks without hits.
    var leaks: [LeakRecord]
}

/// Puts together what one sender gave one receiver in small fields, and in parts of a token, within a minute
/// (RULES 2.4.4).
struct SplitWatch: Sendable {
    /// Who sent to whom.
    private struct Pair: Hashable {
        var actor: Actor
        var domain: String
    }

    private struct Stream: Hashable {
        var pair: Pair
        /// `query`, `query:name`, `header:name`, `dns-name`, `message` …
        var field: String
    }

    private struct Tail {
        var bytes: [UInt8] = []
        var leaks: [LeakRecord] = []
        var last: Instant
    }

    private struct Piece {
        var range: Range<Int>
        var place: String
        var leak: LeakRecord
    }

    private struct Collected: Hashable {
        var pair: Pair
        var needle: Int
    }

    private struct Place: Hashable {
        var needle: Int
        var places: [String]
        var host: HostName?
    }

    private var tails: [Stream: Tail] = [:]
    private var pieces: [Collected: [Piece]] = [:]
    private(set) var found: [SplitLeak] = []
    /// What `found` holds, to tell repeats by.
    private var known: Set<Place> = []
    private(set) var isFull = false

    /// How long pieces belong together.
    static let window = Nanoseconds.seconds(60)
    /// Fields up to this length are small.
    static let smallField = 64
    /// Bytes that are kept of one stream.
    static let tailLimit = 1_024
    /// Streams, and senders with pieces, that are followed.
    static let streamLimit = 20_000
    /// Leaks in pieces that are kept.
    static let leakLimit = 200
    /// Messages that are kept of one.
    private static let messageLimit = 16

    // MARK: parts that are told by themselves

    /// Takes parts of a token that one message held.
    mutating func add(_ parts: [TokenPiece], of leak: LeakRecord) {
        let pair = Pair(actor: leak.actor.actor, domain: Self.domain(of: leak.host))
        for part in parts {
            let key = Collected(pair: pair, needle: part.needle.number)
            if pieces[key] == nil, pieces.count >= Self.streamLimit {
                isFull = true
                continue
            }
            let place = ([part.location] + part.chain).joined(separator: " → ")
            var known = pieces[key] ?? []
            known.removeAll { leak.started.nanoseconds(since: $0.leak.started) > Self.window.count }
            if known.count < 64 { known.append(Piece(range: part.range, place: place, leak: leak)) }
            pieces[key] = known
            if part.range.count >= TokenPiece.telling {
                keep(
                    SplitLeak(
                        needle: part.needle, extent: .part(bytes: part.range.count), places: [place], leaks: [leak]))
            }
            let (covered, used) = Self.covered(by: known)
            if known.count > 1, covered * 100 >= part.length * 80 {
                keep(
                    SplitLeak(
                        needle: part.needle, extent: .whole(percent: min(100, covered * 100 / max(1, part.length))),
                        places: used.map(\.place), leaks: used.map(\.leak)))
                pieces[key] = []
            }
        }
    }

    /// Bytes that pieces in the order of sending cover, each beginning no earlier in the token than the one before.
    private static func covered(by pieces: [Piece]) -> (Int, [Piece]) {
        var end = 0
        var start = 0
        var covered = 0
        var used: [Piece] = []
        for piece in pieces where piece.range.lowerBound >= start {
            let new = piece.range.upperBound - max(end, piece.range.lowerBound)
            guard new > 0 else { continue }
            covered += new
            start = piece.range.lowerBound
            end = piece.range.upperBound
            used.append(piece)
        }
        return (covered, used)
    }

    // MARK: small fields one behind the other

    /// Takes small fields of one message, and searches each stream that they lengthen.
    mutating func add(_ fields: [(name: String, value: [UInt8])], of leak: LeakRecord, _ scanner: inout LeakScanner) {
        let pair = Pair(actor: leak.actor.actor, domain: Self.domain(of: leak.host))
        for (name, value) in fields where !value.isEmpty && value.count <= Self.smallField {
            let stream = Stream(pair: pair, field: name)
            if tails[stream] == nil, tails.count >= Self.streamLimit {
                tails = tails.filter { leak.started.nanoseconds(since: $0.value.last) <= Self.window.count }
                guard tails.count < Self.streamLimit else {
                    isFull = true
                    continue
                }
            }
            // One owner, so that lengthening copies nothing.
            var tail = tails.removeValue(forKey: stream) ?? Tail(last: leak.started)
            if leak.started.nanoseconds(since: tail.last) > Self.window.count { tail = Tail(last: leak.started) }
            tail.bytes += value
            tail.last = leak.started
            if tail.leaks.last?.carrier != leak.carrier { tail.leaks.append(leak) }
            if tail.leaks.count > Self.messageLimit { tail.leaks.removeFirst() }
            if tail.bytes.count > Self.tailLimit { tail.bytes.removeFirst(tail.bytes.count - Self.tailLimit) }
            if let needle = scanner.token(in: tail.bytes) {
                keep(
                    SplitLeak(
                        needle: needle, extent: .whole(percent: 100), places: [name], leaks: tail.leaks))
                tail = Tail(last: leak.started)
            }
            tails[stream] = tail
        }
    }

    private mutating func keep(_ leak: SplitLeak) {
        let place = Place(needle: leak.needle.number, places: leak.places, host: leak.leaks.first?.host)
        guard !known.contains(place) else { return }
        guard found.count < Self.leakLimit else { return isFull = true }
        known.insert(place)
        found.append(leak)
    }

    /// The part of a name that one owner registers, as far as it can be told without the list of public suffixes.
    static func domain(of host: HostName?) -> String {
        guard let host else { return "" }
        let labels = host.text.split(separator: ".")
        guard labels.count > 2, host.address == nil else { return host.text }
        let second = labels[labels.count - 2]
        let isSuffix = second.utf8.count <= 3 && labels[labels.count - 1].utf8.count == 2
        return labels.suffix(isSuffix ? 3 : 2).joined(separator: ".")
    }
}

extension SplitWatch {
    /// The small fields of a request: query values, cookies, and header fields that are the app's own.
    static func fields(of request: Request) -> [(name: String, value: [UInt8])] {
        var result: [(String, [UInt8])] = []
        let target = request.target
        if let question = target.firstIndex(of: "?") {
            for pair in target[target.index(after: question)...].split(separator: "&").prefix(64) {
                let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                guard parts.count == 2, parts[1].utf8.count <= 3 * smallField else { continue }
                var value: [UInt8] = []
                Array(parts[1].utf8).withUnsafeBytes { TextDecoding.undo(.percent, of: $0, into: &value) }
                result.append(("query", value))
                result.append(("query:" + TextMask.word(parts[0]), value))
            }
        }
        for field in request.fields.fields.prefix(100) {
            let value = request.fields.valueBytes(field)
            guard value.count <= smallField else { continue }
            let name = request.fields.name(field).lowercased()
            guard !usual.contains(name), !name.hasPrefix(":"), !name.hasPrefix("sec-"), !name.hasPrefix("accept") else {
                continue
            }
            result.append(("header", Array(value)))
            result.append(("header:" + TextMask.word(Substring(name)), Array(value)))
        }
        return result
    }

    /// Fields that every client sends.
    private static let usual: Set<String> = [
        "host", "user-agent", "connection", "content-type", "content-length", "content-encoding", "cache-control",
        "pragma", "te", "origin", "dnt", "upgrade-insecure-requests", "authorization", "cookie", "transfer-encoding",
    ]
}
