import Assertions
import Crypto
import SessionTrace

/// Needle × encodings × location: each is found, once, where it is, and its chain leads to it. What is wrong is told in
/// sentences, so that the tests and the bench can run the same matrix.
enum LeakMatrix {
    /// Encodings to depth 2.
    static let chains: [[SampleEncoding]] =
        [[]] + SampleEncoding.allCases.map { [$0] }
        + SampleEncoding.allCases.flatMap { outer in
            SampleEncoding.allCases.filter { inner in fits(inner, in: outer) }.map { [outer, $0] }
        }

    /// Encodings around a compression around an encoding.
    static let compressedChains: [[SampleEncoding]] = {
        // A double encoding is two already.
        let single = SampleEncoding.allCases.filter { $0 != .percentDouble && $0 != .jsonNested }
        return single.filter(\.takesBinary).flatMap { outer in
            single.flatMap { inner in SampleEncoding.compressions.map { [outer, $0, inner] } }
        }
    }()

    /// Places that are no encoding of their own: with one, these chains would be deeper than is looked.
    static func plain(_ places: [LeakPlace]) -> [LeakPlace] {
        places.filter { place in
            !["UTF-16", "file name", "JWT", "data: URL", "gRPC, compressed", "coded part"].contains {
                place.name.hasPrefix($0) || place.name.hasSuffix($0)
            } && !["gzip", "deflate", "zstd", "br"].contains(place.name)
        }
    }

    static let plainPlaces = plain(LeakPlace.structured + LeakPlace.containers)

    private static func fits(_ inner: SampleEncoding, in outer: SampleEncoding) -> Bool {
        (inner.isText && !(inner.hasLines && [.reversed, .rot13].contains(outer))) || outer.takesBinary
    }

    /// Encodings that a value is found under only when it is known: nothing undoes them.
    static func isUndone(_ chain: [SampleEncoding]) -> Bool { !chain.contains(.rot13) && !chain.contains(.reversed) }

    /// One way to write a needle.
    struct Value: Sendable, CustomStringConvertible {
        var needle: Needle
        var text: String
        /// What a chain must lead to.
        var wanted: [UInt8]

        var description: String { "\(needle.kind.rawValue) of \(text.utf8.count) bytes" }
    }

    /// The values that the tests look for: each is one that a handoff URL is known by.
    static let values = [ScannerSamples.url, ScannerSamples.token, ScannerSamples.token.lowercased()].map {
        Value(needle: ScannerSamples.needle, text: $0, wanted: Array(ScannerSamples.token.utf8.dropFirst(4)))
    }

    static let urlValue = values[0]

    /// Locations of RULES 2.2 that the matrix has no place for, and why.
    static let elsewhere = [
        ("QUIC server name", "handed to the scanner as the TLS server name is"),
        ("WebSocket with permessage-deflate", "handed to the scanner inflated and unmasked"),
        ("request line's method", "a token that carries no value in any client"),
        ("transfer coding", "handed to the scanner undone"),
    ]

    /// Chains that are left out, and why.
    static let leftOut =
        "an encoding of text (a JSON string, character references, UTF-16, reversed, rot13) around bytes that are none;"
        + " reversed and rot13 around quoted-printable, which each writer breaks in its own way and nothing undoes then;"
        + " quoted-printable of some letters of a value under 12 bytes, which is not told from a form's =20"

    /// Whether too little of a value is escaped by the samples' quoted-printable, which escapes each third letter, to be told from
    /// a form's `=20`. (What writers of mail escape of such a value is none of its letters, or all of them: both are patterns.)
    private static func isUntold(_ value: Value, under chain: [SampleEncoding]) -> Bool {
        value.text.utf8.count < 12 && chain.contains(.quotedPrintable)
    }

    /// Needles of every kind (RULES 2.3).
    static let needles: [Needle] =
        [ScannerSamples.needle]
        + ([
            (.neutralURL, "https://chia.health/begin/glp1-month-0042"), (.catalogID, "item-4711-abcdef"),
            (.disclosureVersion, "disclosure-2026-03"), (.idempotencyKey, "5f0c9b7e-4c1d-4f5a-9d55-0a86d1c2e3f4"),
            (.sessionIdentifier, "hs-9f2c41d07ab3"), (.canary, "crafted-value-5f1e77"),
            (.secret, "whsec_Vd93kLmQx7RzT0bNcYw2"), (.catalogID, "SKU-48213"), (.canary, "A7-x93Kq"),
        ] as [(Needle.Kind, String)]).enumerated().map { number, value in
            Needle(number: number + 2, kind: value.0, label: "N#\(number + 2)", value: value.1)
        }

    /// All of them, in each form and in lower case.
    static let allValues: [Value] =
        ([
            String(ScannerSamples.url.dropFirst(8)), "/continue/" + ScannerSamples.token,
            String(ScannerSamples.token.dropFirst(4)), ScannerSamples.url.lowercased(),
        ]).map {
            Value(needle: ScannerSamples.needle, text: $0, wanted: Array(ScannerSamples.token.utf8.dropFirst(4)))
        } + values
        + needles.dropFirst().flatMap { needle -> [Value] in
            let text = String(decoding: needle.value.bytes, as: UTF8.self)
            return Set([text, text.lowercased()]).sorted().map {
                // Of a URL the path alone is enough.
                Value(
                    needle: needle, text: $0,
                    wanted: needle.kind == .neutralURL ? Array("glp1-month-0042".utf8) : needle.value.bytes)
            }
        }

    /// A scanner that knows them all.
    static func scanner() -> LeakScanner {
        var scanner = LeakScanner(redactor: ScannerSamples.redactor)
        for needle in needles { scanner.learn(needle: needle) }
        return scanner
    }

    /// What is wrong with finding `value` under a chain in some places.
    static func faults(
        _ value: Value, under chain: [SampleEncoding], in places: [LeakPlace], _ scanner: inout LeakScanner
    ) -> [String] {
        guard !isUntold(value, under: chain) else { return [] }
        let encoded = chain.reversed().reduce(Array(value.text.utf8)) { $1.encode($0) }
        var faults: [String] = []
        for place in places where place.refusal(of: encoded, under: chain) == nil {
            let (result, root) = place.scan(encoded, with: &scanner)
            let what = "\(chain.map(\.rawValue)) of \(value) in \(place)"
            if !result.gaps.isEmpty { faults.append("\(what): gaps \(result.gaps)") }
            guard let hit = result.hits.first, result.hits.count == 1 else {
                faults.append("\(what): \(result.hits.map(\.place))")
                continue
            }
            if !place.isTold(by: hit) || hit.needle != value.needle {
                faults.append("\(what): at \(hit.place)")
            } else if !Replay.leads(from: root, through: hit.chain, to: value.wanted) {
                faults.append("\(what): \(hit.place) does not lead there")
            }
        }
        return faults
    }

    /// What is wrong with finding the token by its shape, unknown as it is.
    static func shapeFaults(
        under chain: [SampleEncoding], in places: [LeakPlace], _ scanner: inout LeakScanner
    ) -> [String] {
        let encoded = chain.reversed().reduce(Array(ScannerSamples.url.utf8)) { $1.encode($0) }
        return places.filter { $0.refusal(of: encoded, under: chain) == nil }.compactMap { place in
            let hits = place.scan(encoded, with: &scanner).result.hits
            let isRight =
                hits.count == 1 && hits[0].match == .tokenShape
                && hits[0].matchedDigest == ScannerSamples.redactor.digest(ScannerSamples.token)
            return isRight ? nil : "shape: \(chain.map(\.rawValue)) in \(place): \(hits.map(\.place))"
        }
    }

    // MARK: digests

    static let functions: [HashFunction] = [
        .md5, .sha1, .sha224, .sha256, .sha384, .sha512, .sha3With256Bits, .blake2b,
    ]

    /// What is hashed, and its usual variants.
    static let hashed = [
        ScannerSamples.url, ScannerSamples.url.lowercased(), ScannerSamples.url + "/",
        String(ScannerSamples.url.dropFirst(8)), ScannerSamples.token, ScannerSamples.token.lowercased(),
        String(ScannerSamples.token.dropFirst(4)),
    ].map { Array($0.utf8) }

    /// Notations of a digest, and encodings around these.
    static let notations: [[SampleEncoding]] =
        [[], [.hexLower], [.hexUpper], [.base64], [.base64URL], [.base64Second]]
        + SampleEncoding.allCases.flatMap { outer in
            ([.hexLower, .hexUpper, .base64] as [SampleEncoding]).map { [outer, $0] }
        } + SampleEncoding.allCases.filter(\.takesBinary).map { [$0] }

    static func digestFaults(
        _ digest: [UInt8], under chain: [SampleEncoding], in places: [LeakPlace], _ scanner: inout LeakScanner
    ) -> [String] {
        let encoded = chain.reversed().reduce(digest) { $1.encode($0) }
        return places.compactMap { place in
            // A digest is no text.
            guard place.capacity == .binary || !chain.isEmpty, place.refusal(of: encoded, under: chain) == nil
            else { return nil }
            let (result, root) = place.scan(encoded, with: &scanner)
            let what = "digest: \(chain.map(\.rawValue)) in \(place)"
            guard let hit = result.hits.first, result.hits.count == 1 else {
                return "\(what): \(result.hits.map(\.place))"
            }
            return Replay.leads(from: root, through: hit.chain, toDigestOf: hashed)
                ? nil : "\(what): \(hit.place) does not lead there"
        }
    }

    static func digestOfDigestFaults(
        _ outer: HashFunction, in places: [LeakPlace], _ scanner: inout LeakScanner
    ) -> [String] {
        var faults: [String] = []
        for value in [ScannerSamples.url, ScannerSamples.token] {
            for inner in functions {
                for notation in [nil, .hexLower, .hexUpper, .base64] as [SampleEncoding?] {
                    let digest = inner.digest(of: Array(value.utf8))
                    let twice = outer.digest(of: notation?.encode(digest) ?? digest)
                    for chain in [[.hexLower], [.hexUpper], [.base64]] as [[SampleEncoding]] {
                        faults += digestFaults(twice, under: chain, in: places, &scanner)
                    }
                }
            }
        }
        return faults
    }
}
