internal import SessionTrace

/// Reads requests to our own services: bytes in, requests or one refusal out (RFC 9112).
///
/// Strict where the observer of other people's traffic is tolerant: what has two readings is refused, and the connection
/// ends. After a refusal nothing more is read.
///
/// ```
/// head ──whole──► length or chunked ──whole──► request ──► head
///   └── refused ◄──────┘
/// ```
struct LocalRequestReader {
    /// How much is read of one request.
    struct Limits: Sendable {
        /// Bytes of the request line and the fields together.
        var head = 16 << 10
        /// Fields.
        var fields = 100
        /// Bytes of content.
        var body = 1 << 20
    }

    /// What came of the bytes so far.
    enum Step: Equatable {
        case needsInput
        /// The client waits for `100 Continue` before it sends the content (RFC 9110 §10.1.1). Told once a request.
        case wantsContinue
        /// A whole request.
        case request(LocalRequest)
        /// No request that can be answered: the status, and why in one sentence.
        case refused(status: Int, String)
    }

    /// Bytes of a line that gives a chunk's size, extensions included.
    private static let chunkLineLimit = 128

    private enum State {
        case head
        case length(LocalRequest, remaining: Int)
        case chunkSize(LocalRequest)
        case chunk(LocalRequest, remaining: Int)
        case chunkEnd(LocalRequest)
        case trailers(LocalRequest, remaining: Int)
        case refused(status: Int, String)
    }

    private let limits: Limits
    private var state = State.head
    private var buffer: [UInt8] = []
    /// Bytes of the buffer that are read already.
    private var start = 0
    /// No end of the head or line lies between `start` and here.
    private var searched = 0
    private var owesContinue = false

    init(limits: Limits = Limits()) {
        self.limits = limits
    }

    /// Whether a request has begun and is not whole.
    var isInsideRequest: Bool {
        if case .head = state { return start < buffer.count }
        return true
    }

    /// Takes bytes as they arrived.
    mutating func feed(_ bytes: some Sequence<UInt8>) {
        if start > 0 {
            buffer.removeFirst(start)
            searched -= start
            start = 0
        }
        buffer.append(contentsOf: bytes)
    }

    /// The next step; call until it needs input, and once more after each request.
    mutating func next() -> Step {
        while true {
            switch state {
            case .refused(let status, let why): return .refused(status: status, why)
            case .head:
                guard let step = readHead() else { continue }
                return step
            case .length(var request, let remaining):
                if let step = continueStep() { return step }
                let count = min(remaining, buffer.count - start)
                request.body += take(count)
                if remaining == count { return finish(request) }
                state = .length(request, remaining: remaining - count)
                return .needsInput
            case .chunkSize(let request):
                if let step = continueStep() { return step }
                guard let line = takeLine(limit: Self.chunkLineLimit) else { return openLine(Self.chunkLineLimit) }
                guard let size = Self.chunkSize(line) else { return refuse(400, "a chunk size that is no number") }
                guard size <= limits.body - request.body.count else { return refuse(413, bodyTooLong) }
                state = size == 0 ? .trailers(request, remaining: limits.head) : .chunk(request, remaining: size)
            case .chunk(var request, let remaining):
                let count = min(remaining, buffer.count - start)
                request.body += take(count)
                guard remaining == count else {
                    state = .chunk(request, remaining: remaining - count)
                    return .needsInput
                }
                state = .chunkEnd(request)
            case .chunkEnd(let request):
                guard let line = takeLine(limit: 0) else { return openLine(0) }
                guard line.isEmpty else { return refuse(400, "a chunk without its end") }
                state = .chunkSize(request)
            case .trailers(let request, let remaining):
                guard let line = takeLine(limit: remaining) else { return openLine(remaining) }
                if line.isEmpty { return finish(request) }
                // Trailers are passed over: nothing of ours needs one.
                state = .trailers(request, remaining: remaining - min(remaining, line.count + 2))
            }
        }
    }

    private var bodyTooLong: String { "the content is longer than \(limits.body) bytes" }

    private mutating func continueStep() -> Step? {
        guard owesContinue else { return nil }
        owesContinue = false
        // RFC 9110 §10.1.1: no 100 is owed once content has arrived.
        return start < buffer.count ? nil : .wantsContinue
    }

    private mutating func finish(_ request: LocalRequest) -> Step {
        state = .head
        searched = start
        return .request(request)
    }

    private mutating func refuse(_ status: Int, _ why: String) -> Step {
        state = .refused(status: status, why)
        buffer = []
        start = 0
        return .refused(status: status, why)
    }

    private mutating func take(_ count: Int) -> ArraySlice<UInt8> {
        let slice = buffer[start..<start + count]
        start += count
        searched = start
        return slice
    }

    /// A line without its end (CRLF, or LF alone); nil when it is not whole, or longer than `limit`.
    private mutating func takeLine(limit: Int) -> ArraySlice<UInt8>? {
        guard let end = buffer[max(start, searched)...].firstIndex(of: 0x0A) else {
            searched = buffer.count
            return nil
        }
        var line = buffer[start..<end]
        if line.last == 0x0D { line.removeLast() }
        guard line.count <= limit else {
            searched = end
            return nil
        }
        start = end + 1
        searched = start
        return line
    }

    /// What becomes of a line that `takeLine` did not give.
    private mutating func openLine(_ limit: Int) -> Step {
        // The end of a line is at most two bytes, and its second may be missing.
        let isTooLong = buffer.count - start > limit + 1 || (searched < buffer.count && buffer[searched] == 0x0A)
        return isTooLong ? refuse(400, "a line inside the content is too long") : .needsInput
    }

    // MARK: - Heads

    /// Nil when a state was entered that has to be looked at next.
    private mutating func readHead() -> Step? {
        // RFC 9112 §2.2: empty lines before a request line are passed over.
        while start < buffer.count, buffer[start] == 0x0D || buffer[start] == 0x0A {
            start += 1
            searched = max(searched, start)
        }
        guard let end = headEnd() else {
            return buffer.count - start > limits.head
                ? refuse(431, "the request's head is longer than \(limits.head) bytes") : .needsInput
        }
        guard end - start <= limits.head else {
            return refuse(431, "the request's head is longer than \(limits.head) bytes")
        }
        let lines = buffer[start..<end].split(separator: 0x0A, omittingEmptySubsequences: false).map { line in
            line.last == 0x0D ? line.dropLast() : line
        }
        start = end
        searched = end
        let parser = LocalHeadParser(fieldLimit: limits.fields)
        do throws(LocalHeadParser.Fault) {
            let head = try parser.parse(lines.filter { !$0.isEmpty })
            owesContinue = head.expectsContinue
            switch head.framing {
            case .length(let count) where count > limits.body: return refuse(413, bodyTooLong)
            case .length(let count): state = .length(head.request, remaining: count)
            case .chunked: state = .chunkSize(head.request)
            }
            return nil
        } catch {
            return refuse(error.status, error.sentence)
        }
    }

    /// The offset behind the empty line that ends the head.
    private mutating func headEnd() -> Int? {
        var at = max(start, searched)
        while let lineFeed = buffer[at...].firstIndex(of: 0x0A) {
            if lineFeed + 1 < buffer.count, buffer[lineFeed + 1] == 0x0A { return lineFeed + 2 }
            if lineFeed + 2 < buffer.count, buffer[lineFeed + 1] == 0x0D, buffer[lineFeed + 2] == 0x0A {
                return lineFeed + 3
            }
            // What follows this line is not there yet: the next search begins here again.
            if lineFeed + 2 >= buffer.count {
                searched = lineFeed
                return nil
            }
            at = lineFeed + 1
        }
        searched = buffer.count
        return nil
    }

    /// RFC 9112 §7.1: hexadecimal digits, perhaps an extension behind a semicolon.
    private static func chunkSize(_ line: ArraySlice<UInt8>) -> Int? {
        let digits = line.prefix { $0 != UInt8(ascii: ";") && $0 != 0x20 }
        guard (1...8).contains(digits.count), !digits.contains(UInt8(ascii: "+")), !digits.contains(UInt8(ascii: "-"))
        else { return nil }
        return Int(String(decoding: digits, as: UTF8.self), radix: 16)
    }
}
