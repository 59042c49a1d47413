/// Decodes one content coding as a stream: coded bytes in, content out. No I/O.
///
/// Sources: RFC 1952 (gzip, with any number of members), RFC 1950 and 1951 (deflate), RFC 7932 (br), RFC 8878 (zstd,
/// with any number of frames, skippable ones included).
public struct ContentDecoder: ~Copyable {
    /// The codings that are read.
    public enum Coding: String, Hashable, Sendable, CaseIterable {
        case gzip
        /// HTTP's `deflate`: the zlib format, or the raw deflate stream that some senders use for it; told apart by
        /// the first two bytes.
        case deflate
        /// A deflate stream without any wrapper.
        case rawDeflate = "raw-deflate"
        case brotli = "br"
        case zstd

        /// The coding that a Content-Encoding token names (RFC 9110 §8.4.1, any case; `x-gzip` is `gzip`).
        public init?(token: String) {
            switch token.lowercased() {
            case "gzip", "x-gzip": self = .gzip
            case "deflate": self = .deflate
            case "br": self = .brotli
            case "zstd": self = .zstd
            default: return nil
            }
        }
    }

    /// Where a call of `decode` came to a stop.
    public enum Status: Hashable, Sendable {
        /// All input was used; the content goes on.
        case needsInput
        /// All input was used, and the content may end here: a member or frame is whole.
        case atBoundary
        /// The call's output limit was reached; call again with the input from `consumed` on, even when none is left.
        case outputFull
        /// The content has ended; the input from `consumed` on does not belong to it.
        case trailingBytes
    }

    /// What one call of `decode` did.
    public struct Progress: Hashable, Sendable {
        /// Bytes of this call's input that were used.
        public var consumed: Int
        /// Bytes appended to the output.
        public var produced: Int
        /// Why it stopped.
        public var status: Status
    }

    /// How far content may outgrow its coded form before it is taken for a bomb.
    public struct ExpansionLimit: Hashable, Sendable {
        /// Bytes of output for each byte of input.
        public var ratio: Int
        /// Bytes of output that are always allowed.
        public var floor: Int

        /// Makes a limit.
        public init(ratio: Int, floor: Int) {
            self.ratio = ratio
            self.floor = floor
        }

        /// For messages: 1,100 to 1 (more than deflate can reach, so only br and zstd bombs meet it) beyond 1 MiB.
        public static let message = ExpansionLimit(ratio: 1_100, floor: 1 << 20)
    }

    /// Not private: an optimised build of another module that holds a decoder names this type's metadata when it destroys
    /// one, and Swift 6.3 does not export it for a private type (undefined reference at link time).
    enum Backend: ~Copyable {
        case inflate(InflateStream)
        case brotli(BrotliStream)
        case zstd(ZstdStream)
    }

    /// The coding that is decoded.
    public let coding: Coding
    /// Coded bytes used so far.
    public private(set) var totalConsumed = 0
    /// Content bytes handed out so far.
    public private(set) var totalProduced = 0
    /// Whether the content may end here: at least one member or frame was seen and the last one is whole.
    public private(set) var isAtBoundary = false

    private let backend: Backend
    private let expansion: ExpansionLimit?

    /// Makes a decoder. Without an expansion limit only the calls' own output limits apply.
    public init(_ coding: Coding, expansion: ExpansionLimit? = nil) {
        self.coding = coding
        self.expansion = expansion
        switch coding {
        case .gzip: backend = .inflate(InflateStream(.gzip))
        case .deflate: backend = .inflate(InflateStream(.zlibOrRaw))
        case .rawDeflate: backend = .inflate(InflateStream(.raw))
        case .brotli: backend = .brotli(BrotliStream())
        case .zstd: backend = .zstd(ZstdStream())
        }
    }

    /// Decodes `input` and appends at most `limit` bytes to `output`.
    ///
    /// Everything that can be decoded from the bytes given so far is appended, before an error is thrown too.
    public mutating func decode(
        _ input: UnsafeRawBufferPointer, into output: inout [UInt8], limit: Int
    ) throws(ContentCodingError) -> Progress {
        var allowed = max(0, limit)
        var expansionBinds = false
        if let expansion {
            let (scaled, overflow) = (totalConsumed &+ input.count).multipliedReportingOverflow(by: expansion.ratio)
            let room = max(0, (overflow ? Int.max : max(scaled, expansion.floor)) &- totalProduced)
            if room < allowed {
                allowed = room
                expansionBinds = true
            }
        }
        let before = output.count
        var step = Step(offset: totalConsumed)
        switch backend {
        case .inflate(let stream): stream.decode(input, into: &output, limit: allowed, step: &step)
        case .brotli(let stream): stream.decode(input, into: &output, limit: allowed, step: &step)
        case .zstd(let stream): stream.decode(input, into: &output, limit: allowed, step: &step)
        }
        let produced = output.count - before
        totalConsumed += step.consumed
        totalProduced += produced
        isAtBoundary = step.status == .atBoundary || step.status == .trailingBytes
        if let error = step.error { throw error }
        if step.status == .outputFull, expansionBinds {
            throw ContentCodingError(
                code: .expansionLimit, offset: totalConsumed, detail: "\(totalProduced) bytes out of \(totalConsumed)")
        }
        return Progress(consumed: step.consumed, produced: produced, status: step.status)
    }
}

/// What a backend reports about one call.
struct Step {
    /// Coded bytes used before this call.
    let offset: Int
    var consumed = 0
    var status = ContentDecoder.Status.needsInput
    var error: ContentCodingError?

    init(offset: Int) {
        self.offset = offset
    }

    /// Ends the call with an error at the current place.
    mutating func fail(_ code: ContentCodingError.Code, _ detail: String) {
        error = ContentCodingError(code: code, offset: offset + consumed, detail: detail)
    }
}
