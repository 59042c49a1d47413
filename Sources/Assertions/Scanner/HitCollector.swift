/// Keeps one hit for each place and needle: the one with the shortest chain, told by its most telling form.
struct HitCollector {
    private struct Key: Hashable {
        var needle: Int
        var digest: String
        var location: String
        var structure: [String]
    }

    private var order: [Key] = []
    private var best: [Key: LeakHit] = [:]

    /// Adds a hit whose chain holds these structural steps.
    mutating func add(_ hit: LeakHit, structure: [String]) {
        let key = Key(
            needle: hit.needle?.number ?? -1, digest: hit.matchedDigest, location: hit.location, structure: structure)
        guard let before = best[key] else {
            order.append(key)
            best[key] = hit
            return
        }
        if hit.chain.count < before.chain.count || (hit.chain.count == before.chain.count && form(hit) < form(before)) {
            best[key] = hit
        }
    }

    /// What is left, in the order found: of two places of which one lies in the other, the inner one.
    var hits: [LeakHit] {
        let outer = Set(
            order.flatMap { key in
                key.structure.indices.map { count in
                    Key(
                        needle: key.needle, digest: key.digest, location: key.location,
                        structure: Array(key.structure[..<count]))
                }
            })
        return order.filter { !outer.contains($0) }.compactMap { best[$0] }
    }

    private func form(_ hit: LeakHit) -> NeedleForm {
        guard case .known(_, let form) = hit.match else { return .token }
        return form
    }
}
