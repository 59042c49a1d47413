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
    static let plainPlaces = (LeakPlace.structured + LeakPlace.containers).filter {
        !["UTF-16 JSON", "file name", "JWT", "data: URL"].contains($0.name)
    }

    private static func fits(_ inner: SampleEncoding, in outer: SampleEncoding) -> Bool {
        (inner.isText && !inner.hasLines) || outer.takesBinary
    }

    /// Encodings that a value is found under only when it is known: nothing undoes them.
    static func isUndone(_ chain: [SampleEncoding]) -> Bool { !chain.contains(.rot13) && !chain.contains(.reversed) }

    static let values = [ScannerSamples.url, ScannerSamples.token, ScannerSamples.token.lowercased()]

    /// What is wrong with finding `value` under a chain in some places.
    static func faults(
        _ value: String, under chain: [SampleEncoding], in places: [LeakPlace], _ scanner: inout LeakScanner
    ) -> [String] {
        let encoded = chain.reversed().reduce(Array(value.utf8)) { $1.encode($0) }
        var faults: [String] = []
        for place in places where place.canCarry(encoded, chain) {
            let (result, root) = place.scan(encoded, with: &scanner)
            let what = "\(chain.map(\.rawValue)) of \(value.count) bytes in \(place)"
            if !result.gaps.isEmpty { faults.append("\(what): gaps \(result.gaps)") }
            guard let hit = result.hits.first, result.hits.count == 1 else {
                faults.append("\(what): \(result.hits.map(\.place))")
                continue
            }
            if hit.location != place.location || Array(hit.chain.prefix(place.structure.count)) != place.structure
                || hit.needle?.number != 1
            {
                faults.append("\(what): at \(hit.place)")
            } else if !Replay.leads(
                from: root, through: hit.chain, to: Array(ScannerSamples.token.utf8.dropFirst(4)))
            {
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
        return places.filter { $0.canCarry(encoded, chain) }.compactMap { place in
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
            guard place.capacity.isBinary || (!chain.isEmpty && place.canCarry(encoded, chain)) else { return nil }
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

extension LeakPlace.Capacity {
    var isBinary: Bool { if case .binary = self { true } else { false } }
}
