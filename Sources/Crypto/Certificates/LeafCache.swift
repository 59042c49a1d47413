/// Which names a leaf has, and the leaves that were issued already.
internal import SessionTrace

enum LeafNames {
    /// Days from a leaf's first instant to its last. Platforms refuse more than 398, and lately 100 or 47 for public
    /// authorities; 45 is under all of them.
    static let lifetimeDays: Int64 = 45
    /// Names taken over from the real server's certificate, at most.
    static let mirroredLimit = 100
    /// Names that were asked for, at most.
    static let requestedLimit = 16
    /// Characters in a common name, at most (RFC 5280, ub-common-name).
    static let commonNameLimit = 64

    /// The names that were asked for, then those of the real server, each once.
    static func merge(_ requested: [SubjectName], _ mirrored: [SubjectName]) -> [SubjectName] {
        var seen: Set<SubjectName> = []
        var names = requested.prefix(requestedLimit).compactMap(usable).filter { seen.insert($0).inserted }
        names += mirrored.prefix(mirroredLimit).compactMap(usable).filter { seen.insert($0).inserted }
        return names
    }

    /// The name in its one form; nil when a certificate can't name it.
    private static func usable(_ name: SubjectName) -> SubjectName? {
        switch name {
        case .ip: name
        case .dns(let text): SubjectName(text)
        }
    }
}

/// The leaves that were issued, by their names; the one that was used longest ago goes first.
struct LeafCache {
    /// Leaves kept, at most (about 4 KiB each).
    static let limit = 1_000
    /// A leaf is issued anew this long before it ends (nanoseconds): a day.
    static let renewal: Int64 = 86_400_000_000_000

    private var leaves: [[SubjectName]: (leaf: ServerIdentity, lastUse: UInt64)] = [:]
    private var uses: UInt64 = 0

    var count: Int { leaves.count }

    mutating func leaf(for names: [SubjectName], at now: Instant) -> ServerIdentity? {
        guard let leaf = leaves[names]?.leaf, leaf.certificate.notBefore <= now,
            now < leaf.certificate.notAfter.advanced(byNanoseconds: -Self.renewal)
        else { return nil }
        uses &+= 1
        leaves[names]?.lastUse = uses
        return leaf
    }

    mutating func keep(_ leaf: ServerIdentity, for names: [SubjectName]) {
        uses &+= 1
        leaves[names] = (leaf, uses)
        // A scan of a full table costs a tenth of the signature that made it necessary.
        if leaves.count > Self.limit, let oldest = leaves.min(by: { $0.value.lastUse < $1.value.lastUse })?.key {
            leaves[oldest] = nil
        }
    }
}
