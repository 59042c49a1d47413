/// An array in pieces of fixed size: it grows without ever being copied whole, and a copy of it, such as that of which the
/// verdict so far is made, shares all pieces but the last with the one that grows on.
struct ChunkedArray<Element: Sendable>: RandomAccessCollection, Sendable {
    /// Elements of a piece: a power of two.
    private static var chunkLength: Int { 512 }

    private var chunks: [[Element]] = []
    private(set) var count = 0

    var startIndex: Int { 0 }
    var endIndex: Int { count }

    private(set) subscript(position: Int) -> Element {
        get {
            precondition(position >= 0 && position < count)
            return chunks[position / Self.chunkLength][position % Self.chunkLength]
        }
        set { chunks[position / Self.chunkLength][position % Self.chunkLength] = newValue }
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

    /// Puts the elements from `start` on, in any order, among those before them, which are sorted. What is before the first
    /// of them stays untouched, and only they are held twice meanwhile.
    mutating func sort(from start: Int, by areInIncreasingOrder: (Element, Element) -> Bool) {
        let added = self[start...].sorted(by: areInIncreasingOrder)
        var (rest, old, place) = (added.count, start, count)
        while rest > 0 {
            place -= 1
            if old > 0, areInIncreasingOrder(added[rest - 1], self[old - 1]) {
                old -= 1
                self[place] = self[old]
            } else {
                rest -= 1
                self[place] = added[rest]
            }
        }
    }
}
