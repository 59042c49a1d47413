import Assertions
import Crypto
import Testing

/// A part of the matrix that `make scanner-matrix` runs as a whole: every encoding once alone, every seventh pair of them.
@Suite("LeakScanner: matrix")
struct LeakMatrixTests {
    private static let chains = LeakMatrix.chains.enumerated().filter { $0.element.count < 2 || $0.offset % 17 == 3 }
        .map(\.element)
    private static let compressedChains = LeakMatrix.compressedChains.enumerated().filter { $0.offset % 61 == 5 }
        .map(\.element)
    private static let places = LeakPlace.structured + LeakPlace.containers

    private static func judge(_ faults: [String]) {
        #expect(faults.isEmpty, "\(faults.joined(separator: "\n"))")
    }

    @Test("found once, at its place, with a chain that leads to it", arguments: chains)
    func found(chain: [SampleEncoding]) {
        var scanner = ScannerSamples.scanner()
        for value in LeakMatrix.values {
            Self.judge(LeakMatrix.faults(value, under: chain, in: Self.places, &scanner))
        }
    }

    @Test("with a compression in between", arguments: compressedChains)
    func foundCompressed(chain: [SampleEncoding]) {
        var scanner = ScannerSamples.scanner()
        Self.judge(LeakMatrix.faults(LeakMatrix.urlValue, under: chain, in: LeakMatrix.plainPlaces, &scanner))
    }

    @Test("the shape alone is found too, when nothing was learned", arguments: chains.filter(LeakMatrix.isUndone))
    func shapeFound(chain: [SampleEncoding]) {
        var scanner = LeakScanner(redactor: ScannerSamples.redactor)
        let faults = LeakMatrix.shapeFaults(under: chain, in: LeakPlace.structured, &scanner)
        #expect(faults.isEmpty, "\(faults.joined(separator: "\n"))")
    }

    @Test("digests in every notation, and under a further encoding", arguments: LeakMatrix.functions)
    func digests(function: HashFunction) {
        var scanner = ScannerSamples.scanner()
        for (number, value) in LeakMatrix.hashed.enumerated() {
            let digest = function.digest(of: value)
            for (place, chain) in LeakMatrix.notations.enumerated() where (place + number) % 5 == 0 || chain.count < 2 {
                let faults = LeakMatrix.digestFaults(
                    digest, under: chain, in: Array(LeakPlace.structured[5...8]), &scanner)
                #expect(faults.isEmpty, "\(faults.joined(separator: "\n"))")
            }
        }
    }

    @Test("digests of digests", arguments: [HashFunction.md5, .sha256])
    func digestsOfDigests(function: HashFunction) {
        var scanner = ScannerSamples.scanner()
        let faults = LeakMatrix.digestOfDigestFaults(function, in: [LeakPlace.structured[5]], &scanner)
        #expect(faults.isEmpty, "\(faults.joined(separator: "\n"))")
    }
}
