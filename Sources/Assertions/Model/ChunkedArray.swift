/// An array in pieces of fixed size: it grows without ever being copied whole, and a copy of it, such as that of which the
/// verdict so far is made, shares all pieces but the last with the one that grows on.
struct ChunkedArray<Element: Sendable>: RandomAccessCollection, Sendable {
    /// Elements of a piece: a power of two.
    private static var chunkLength: Int { 512 }

    private var chunks: [[Element]] = []
    private(set) var count = 0

    var startIndex: Int { 0 }
    var endIndex: Int { count }

    subscript(position: Int) -> Element {
        precondition(position >= 0 && position < count)
        return chunks[position / Self.chunkLength][position % Self.chunkLength]
    }

    mutating func append(_ element: Element) {
        if count % Self.chunkLength == 0 {
            var chunk: [Element] = []
            chunk.reserveCapacity(Self.chunkLength)
            chunks.append(chunk)
        }
        chunks[chunks.count - 1].append(element)
        count += 1
    }

    /// Sorts the elements from `start` on; what is before stays as it is, and so do the pieces that hold it.
    mutating func sort(from start: Int, by areInIncreasingOrder: (Element, Element) -> Bool) {
        let sorted = self[start...].sorted(by: areInIncreasingOrder)
        chunks.removeSubrange(((start + Self.chunkLength - 1) / Self.chunkLength)...)
        if let last = chunks.indices.last {
            chunks[last].removeLast(chunks[last].count - (start - last * Self.chunkLength))
        }
        count = start
        for element in sorted { append(element) }
    }
}
