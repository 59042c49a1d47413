/// Tells of the hits of one scan which say again, and worse, what another one says.
///
/// Content is often read in two ways at once: as it stands, and as a coding or a container makes it. Nothing is left out of
/// either reading, since what looks like a container may be none; but what both show is told by the better one.
struct RepeatedHits {
    private let scan: ViewScan

    init(in scan: ViewScan) {
        self.scan = scan
    }

    /// The hits without those that another one makes superfluous.
    func removed(from hits: [ViewScan.RawHit]) -> [ViewScan.RawHit] {
        withoutChunks(withoutCoded(Self.withoutKnownShapes(hits)))
    }

    /// Pieces of a token in a container's chunks, without those that the joined chunks show as well.
    func removed(from pieces: [ViewScan.RawPiece]) -> [ViewScan.RawPiece] {
        guard !scan.chunks.isEmpty else { return pieces }
        func stretch(_ piece: ViewScan.RawPiece) -> Range<Int> { piece.offset..<piece.offset + piece.range.count }
        let ways = pieces.map { way(from: $0.view, at: $0.range.lowerBound) }
        var shown: [Told: [Range<Int>]] = [:]
        for (piece, way) in zip(pieces, ways) {
            for view in way.joined { shown[Told(view: view, needle: piece.needle), default: []].append(stretch(piece)) }
        }
        return zip(pieces, ways).filter { piece, way in
            !way.chunked.contains { view in
                shown[Told(view: view, needle: piece.needle)]?.contains {
                    $0.lowerBound <= stretch(piece).lowerBound && stretch(piece).upperBound <= $0.upperBound
                } == true
            }
        }.map(\.0)
    }

    /// A token that was found as a known one is not also found by its shape.
    private static func withoutKnownShapes(_ hits: [ViewScan.RawHit]) -> [ViewScan.RawHit] {
        guard hits.contains(where: { $0.needle < 0 }) else { return hits }
        var starts: [Int: [Range<Int>]] = [:]
        for hit in hits where hit.needle >= 0 { starts[hit.view, default: []].append(hit.range) }
        return hits.filter { hit in
            hit.needle >= 0 || starts[hit.view]?.contains { $0.overlaps(hit.range) } != true
        }
    }

    // MARK: Two readings

    /// A needle as the better reading of a view shows it.
    private struct Told: Hashable {
        var view: Int
        var needle: Int32
        /// Of a token that is known by its shape alone: how it begins.
        var head: [UInt8] = []
    }

    /// What shows in coded bytes (a coding stores some of them as they are) counts only where undoing the coding does not
    /// show it too.
    private func withoutCoded(_ hits: [ViewScan.RawHit]) -> [ViewScan.RawHit] {
        guard !scan.undone.isEmpty, hits.count > 1 else { return hits }
        let isCoded = hits.map { scan.isBesideCoding($0.view) }
        let shown = Set(zip(hits, isCoded).filter { !$0.1 }.flatMap { told($0.0, of: 0) })
        return zip(hits, isCoded).filter { hit, isCoded in !isCoded || !shown.contains(key(hit, of: 0)) }.map(\.0)
    }

    /// What shows in one chunk counts only where the joined chunks do not show it too.
    private func withoutChunks(_ hits: [ViewScan.RawHit]) -> [ViewScan.RawHit] {
        guard !scan.chunks.isEmpty, hits.count > 1 else { return hits }
        let ways = hits.map { way(from: $0.view, at: $0.range.lowerBound) }
        var shown: Set<Told> = []
        for (hit, way) in zip(hits, ways) {
            for view in way.joined { shown.formUnion(told(hit, of: view)) }
        }
        return zip(hits, ways).filter { hit, way in
            !way.chunked.contains { shown.contains(key(hit, of: $0)) }
        }.map(\.0)
    }

    /// What a hit shows: its needle, and any token by its head. (Of a token of which one reading has a part, the shape alone
    /// would show, with another end; it begins as that token does.)
    private func told(_ hit: ViewScan.RawHit, of view: Int) -> [Told] {
        let bytes = scan.views[hit.view].bytes[hit.range]
        let token = bytes.firstRange(of: TokenShape.prefix).map {
            Told(view: view, needle: -1, head: Array(bytes[$0.lowerBound...].prefix(Self.headLength)))
        }
        return [key(hit, of: view)] + (token.map { [$0] } ?? [])
    }

    private func key(_ hit: ViewScan.RawHit, of view: Int) -> Told {
        guard hit.needle < 0 else { return Told(view: view, needle: hit.needle) }
        let head = scan.views[hit.view].bytes[hit.range].prefix(Self.headLength)
        return Told(view: view, needle: -1, head: Array(head))
    }

    /// The views on the way from a byte to the message in whose chunks it lies, and those whose joined chunks hold it.
    private func way(from view: Int, at offset: Int) -> (chunked: [Int], joined: [Int]) {
        var (number, offset) = (view, offset)
        var way: (chunked: [Int], joined: [Int]) = ([], [])
        var isJoined = false
        while true {
            if isJoined {
                way.joined.append(number)
            } else if let chunks = scan.chunks[number], Self.holds(offset, chunks) {
                way.chunked.append(number)
            }
            let origin = scan.views[number].origins[0]
            guard origin.parent >= 0 else { return way }
            isJoined = if case .container = origin.step { true } else { false }
            if case .inline(let inline) = origin.step {
                offset = scan.views[origin.parent].bytes.withUnsafeBytes {
                    TextDecoding.source(of: offset, inline, in: $0)
                }
            } else {
                offset = origin.sourceOffset
            }
            number = origin.parent
        }
    }

    /// Whether one of these ranges, in order and apart, holds a place.
    private static func holds(_ place: Int, _ ranges: [Range<Int>]) -> Bool {
        var (low, high) = (0, ranges.count)
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].upperBound <= place { low = middle + 1 } else { high = middle }
        }
        return low < ranges.count && ranges[low].contains(place)
    }

    /// Bytes by which a token is known again: its prefix and five more.
    private static let headLength = 9
}
