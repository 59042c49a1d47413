/// One leak: a needle at a place.
public struct LeakHit: Hashable, Sendable {
    /// What was found.
    public enum Match: Hashable, Sendable {
        /// A value that the scanner was taught, and which form of it.
        case known(Needle, NeedleForm)
        /// Something with the shape of a token (`phs_` and 16 or more of `[A-Za-z0-9_-]`) that the scanner was not taught.
        case tokenShape
    }

    /// What was found.
    public var match: Match
    /// Where the message holds it: `path`, `query:utm`, `header:referer`, `cookie:sid`, `trailer:x`, `body`, `message`,
    /// `dns-name`, `server-name`, `connect-target`. Stable over runs; names that look like secrets are masked.
    public var location: String
    /// What leads from there to the value, outermost first, as text for people: `gzip`, `json:/events/3/link`,
    /// `form:x`, `multipart:file`, `line:2`, `percent`, `base64url`, `hex` …
    public var chain: [String]
    /// The value that was found, for comparison within the package: the token for `handoffURL`, `token` and shapes,
    /// otherwise the needle's value.
    public var matched: Secret
    /// Keyed digest of `matched`.
    public var matchedDigest: String
    /// Whether what was found is part of a longer URL (`https://shop.example/item/ID`).
    public var isInURL = false

    /// Makes a hit.
    public init(match: Match, location: String, chain: [String], matched: Secret, matchedDigest: String) {
        self.match = match
        self.location = location
        self.chain = chain
        self.matched = matched
        self.matchedDigest = matchedDigest
    }

    /// Location and chain in one line: `body → gzip → json:/events/3/link → base64url`.
    public var place: String { ([location] + chain).joined(separator: " → ") }

    /// The needle, when it was known.
    public var needle: Needle? {
        guard case .known(let needle, _) = match else { return nil }
        return needle
    }

    /// A stable word for what was found, for fingerprints: a needle kind's raw value or `token-shape`.
    public var kindName: String { needle?.kind.rawValue ?? "token-shape" }

    /// Whether a handoff URL or token was found, known or by its shape (HR-46, HR-47).
    public var isHandoffToken: Bool {
        switch match {
        case .tokenShape: true
        case .known(let needle, _): needle.kind == .handoffURL || needle.kind == .token
        }
    }

    /// Whether it was found by its shape alone, and reads as a name that people gave.
    var readsAsName: Bool { match == .tokenShape && TokenShape.readsAsName(matched.bytes) }

    /// Location and chain without indices, positions and encodings (`body → json:/events/*/link`): the place as
    /// fingerprints need it (RULES 5.1: never position).
    public var fieldTemplate: String {
        let structural = chain.filter { $0.contains(":") && !$0.hasPrefix("line:") }
        let steps = structural.map { step -> String in
            guard step.hasPrefix("json:") else { return step }
            return step.split(separator: "/", omittingEmptySubsequences: false)
                .map { $0.utf8.allSatisfy { (0x30...0x39).contains($0) } && !$0.isEmpty ? "*" : String($0) }
                .joined(separator: "/")
        }
        return ([location] + steps).joined(separator: " → ")
    }
}

/// A part of a token, without the rest.
public struct TokenPiece: Hashable, Sendable {
    /// The needle that it is a part of.
    public var needle: Needle
    /// From where to where in the token's body (what follows `phs_`), in bytes.
    public var range: Range<Int>
    /// Length of the token's body.
    public var length: Int
    /// As of a hit.
    public var location: String
    /// As of a hit.
    public var chain: [String]
    /// Keyed digest of the whole token.
    public var matchedDigest: String

    /// Bytes from which on a piece means something by itself.
    public static let telling = 16
}

/// What a scan could not look into, so that a rule does not take it for clean.
public struct ScanGap: Hashable, Sendable {
    /// Why.
    public enum Reason: Hashable, Sendable {
        /// A limit of `ScanLimits` was reached (named).
        case budget(String)
        /// A content coding that could not be undone, or only in part (named).
        case undecodable(String)
    }

    /// Why.
    public var reason: Reason
    /// Where: a location with its chain.
    public var place: String

    /// Makes a gap.
    public init(reason: Reason, place: String) {
        self.reason = reason
        self.place = place
    }
}

/// What a scan found.
public struct ScanResult: Hashable, Sendable {
    /// At most one for each place and needle, the one with the shortest chain.
    public var hits: [LeakHit]
    /// What could not be looked into.
    public var gaps: [ScanGap]
    /// Digests of 32 bits (crc32, murmur3) of a needle: chance can make them, so they prove nothing.
    public var hints: [LeakHit]
    /// Parts of tokens of which the whole was not found at their place.
    public var pieces: [TokenPiece]

    /// Makes a result.
    public init(hits: [LeakHit], gaps: [ScanGap], hints: [LeakHit] = [], pieces: [TokenPiece] = []) {
        self.hits = hits
        self.gaps = gaps
        self.hints = hints
        self.pieces = pieces
    }

    /// Nothing found, nothing missed.
    public static let clean = ScanResult(hits: [], gaps: [])

    /// Whether a decoding budget ran out (`BlindSpot.Reason.decodeBudget`): absence of hits then proves nothing.
    public var budgetExhausted: Bool {
        gaps.contains {
            if case .budget = $0.reason { true } else { false }
        }
    }

    /// Whether a declared content coding stayed closed (`BlindSpot.Reason.undecodableContent`).
    public var hasUndecodable: Bool {
        gaps.contains {
            if case .undecodable = $0.reason { true } else { false }
        }
    }

    /// Whether there is nothing to tell.
    public var isEmpty: Bool { hits.isEmpty && gaps.isEmpty && hints.isEmpty && pieces.isEmpty }

    /// Whether everything could be looked into.
    public var isWhole: Bool { gaps.isEmpty }
}

/// Bounds of one scan (one request, message, name).
public struct ScanLimits: Hashable, Sendable {
    /// Decodings below one another: a gzip in a base64 in a percent-encoding is three.
    public var depth = 4
    /// Bytes that all decodings together may produce: 64 MiB.
    public var decodedBytes = 64 << 20
    /// How many times its own size a compressed body may grow.
    public var expansion = 200
    /// Decoded pieces that are looked into again.
    public var views = 20_000
    /// Raw matches that are kept before places are worked out.
    public var matches = 4_096

    /// The default bounds.
    public init() {}
}
