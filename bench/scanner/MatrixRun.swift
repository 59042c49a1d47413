import Crypto
import Foundation

@testable import Assertions

/// The whole matrix: what is not found, found twice, or told by a chain that does not lead there; and what a place can't
/// carry at all, with the reason.
struct MatrixRun {
    /// Every `step`-th pair of encodings, and all single ones.
    let step: Int
    private var faults: [String] = []
    private var scanner = LeakMatrix.scanner()

    init(step: Int) {
        self.step = max(1, step)
    }

    /// Prints what was found, and up to `shown` faults in full; true when there are none.
    mutating func run(shown: Int) -> Bool {
        let chains = LeakMatrix.chains.enumerated().filter { $0.element.count < 2 || $0.offset % step == 0 }
            .map(\.element)
        let compressed = LeakMatrix.compressedChains.enumerated().filter { $0.offset % step == 0 }.map(\.element)
        let places = LeakPlace.all
        part("encodings: \(chains.count) chains, \(places.count) places, \(LeakMatrix.allValues.count) values") { run in
            for chain in chains {
                for value in LeakMatrix.allValues {
                    run.faults += LeakMatrix.faults(value, under: chain, in: places, &run.scanner)
                }
            }
        }
        let plain = LeakMatrix.plain(places)
        part("with compression in between: \(compressed.count) chains, \(plain.count) places") { run in
            for chain in compressed {
                run.faults += LeakMatrix.faults(LeakMatrix.urlValue, under: chain, in: plain, &run.scanner)
            }
        }
        part("the shape alone, unknown") { run in
            var untaught = LeakScanner(redactor: ScannerSamples.redactor)
            for chain in chains where LeakMatrix.isUndone(chain) {
                run.faults += LeakMatrix.shapeFaults(under: chain, in: LeakPlace.structured, &untaught)
            }
        }
        part("digests: \(LeakMatrix.functions.count) functions, \(LeakMatrix.notations.count) notations") { run in
            for function in LeakMatrix.functions {
                for value in LeakMatrix.hashed {
                    let digest = function.digest(of: value)
                    for chain in LeakMatrix.notations {
                        run.faults += LeakMatrix.digestFaults(digest, under: chain, in: places, &run.scanner)
                    }
                }
            }
        }
        part("digests of digests") { run in
            for function in LeakMatrix.functions {
                run.faults += LeakMatrix.digestOfDigestFaults(
                    function, in: Array(LeakPlace.structured[5...8]), &run.scanner)
            }
        }
        printKinds()
        for fault in faults.prefix(shown) { print("  " + fault) }
        printRefusals(chains + compressed, places)
        return faults.isEmpty
    }

    private mutating func part(_ name: String, _ work: (inout MatrixRun) -> Void) {
        let before = faults.count
        let time = seconds { work(&self) }
        print("\(name): \(faults.count - before) faults (\(Int(time)) CPU s)")
    }

    private func printKinds() {
        let kinds = Dictionary(grouping: faults) { fault in
            [
                fault.hasPrefix("digest") ? "digest" : fault.hasPrefix("shape") ? "shape" : "value",
                fault.contains("not lead") ? "chain" : fault.hasSuffix("[]") ? "missed" : "other",
                fault.components(separatedBy: " in ").last?.components(separatedBy: ": ").first ?? "",
            ].joined(separator: " ")
        }
        for (kind, all) in kinds.sorted(by: { $0.value.count > $1.value.count }) {
            print("  \(all.count) × \(kind), the first: \(all[0])")
        }
    }

    /// What was not tried, since a place can't carry it.
    private func printRefusals(_ chains: [[SampleEncoding]], _ places: [LeakPlace]) {
        print("what a place can't carry (of \(chains.count) chains with the URL and the token):")
        for place in places {
            var reasons: [String: Int] = [:]
            for chain in chains {
                for value in [ScannerSamples.url, ScannerSamples.token] {
                    let encoded = chain.reversed().reduce(Array(value.utf8)) { $1.encode($0) }
                    if let reason = place.refusal(of: encoded, under: chain) { reasons[reason, default: 0] += 1 }
                }
            }
            for (reason, count) in reasons.sorted(by: { $0.key < $1.key }) {
                print("  \(place) | \(count) | \(reason)")
            }
        }
        for (place, reason) in LeakMatrix.elsewhere { print("  \(place) | all | \(reason)") }
        print("what no chain holds: \(LeakMatrix.leftOut)")
    }
}
