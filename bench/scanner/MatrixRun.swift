import Crypto
import Dispatch
import Foundation

@testable import Assertions

/// The whole matrix: what is not found, found twice, or told by a chain that does not lead there; and what a place can't
/// carry at all, with the reason.
struct MatrixRun {
    /// Every `step`-th pair of encodings, and all single ones.
    let step: Int
    private var faults: [String] = []

    init(step: Int) {
        self.step = max(1, step)
    }

    /// Prints what was found, and up to `shown` faults in full; true when there are none.
    mutating func run(shown: Int) -> Bool {
        let chains = LeakMatrix.chains.enumerated().filter { $0.element.count < 2 || $0.offset % step == 0 }
            .map(\.element)
        let compressed = LeakMatrix.compressedChains.enumerated().filter { $0.offset % step == 0 }.map(\.element)
        let places = LeakPlace.all
        let taught = LeakMatrix.scanner()
        part("encodings: \(chains.count) chains, \(places.count) places, \(LeakMatrix.allValues.count) values", chains)
        {
            chain in
            var scanner = taught
            return LeakMatrix.allValues.flatMap { LeakMatrix.faults($0, under: chain, in: places, &scanner) }
        }
        let plain = LeakMatrix.plain(places)
        part("with compression in between: \(compressed.count) chains, \(plain.count) places", compressed) { chain in
            var scanner = taught
            return LeakMatrix.faults(LeakMatrix.urlValue, under: chain, in: plain, &scanner)
        }
        let untaught = LeakScanner(redactor: ScannerSamples.redactor)
        part("the shape alone, unknown", chains.filter(LeakMatrix.isUndone)) { chain in
            var scanner = untaught
            return LeakMatrix.shapeFaults(under: chain, in: LeakPlace.structured, &scanner)
        }
        let digests = LeakMatrix.functions.flatMap { function in LeakMatrix.hashed.map { function.digest(of: $0) } }
        part("digests: \(LeakMatrix.functions.count) functions, \(LeakMatrix.notations.count) notations", digests) {
            digest in
            var scanner = taught
            return LeakMatrix.notations.flatMap { LeakMatrix.digestFaults(digest, under: $0, in: places, &scanner) }
        }
        part("digests of digests", LeakMatrix.functions) { function in
            var scanner = taught
            return LeakMatrix.digestOfDigestFaults(function, in: Array(LeakPlace.structured[5...8]), &scanner)
        }
        printKinds()
        for fault in faults.prefix(shown) { print("  " + fault) }
        printRefusals(chains + compressed, places)
        return faults.isEmpty
    }

    /// Does a part of the work for each item, several at a time, and keeps the faults in order.
    private mutating func part<Item: Sendable>(
        _ name: String, _ items: [Item], _ work: @Sendable (Item) -> [String]
    ) {
        var found = [[String]](repeating: [], count: items.count)
        let time = seconds {
            found.withUnsafeMutableBufferPointer { found in
                // Each item has a place of its own, so that no two threads write to one.
                nonisolated(unsafe) let places = found
                DispatchQueue.concurrentPerform(iterations: items.count) { places[$0] = work(items[$0]) }
            }
        }
        faults += found.flatMap { $0 }
        print("\(name): \(found.reduce(0) { $0 + $1.count }) faults (\(Int(time)) CPU s)")
        fflush(nil)
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
