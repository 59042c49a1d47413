import Testing

@testable import Assertions

@Suite struct ChunkedArrayTests {
    /// Sorted bit by bit, as a session's requests are, it holds what one sort of everything gives.
    @Test func sortsWhatWasAddedAmongTheRest() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<20 {
            var chunked = ChunkedArray<Int>()
            var plain: [Int] = []
            var sorted = 0
            for _ in 0..<12 {
                // The later, the larger, as with times; but some come late.
                for _ in 0..<Int.random(in: 0...400, using: &random) {
                    let element = max(0, plain.count - Int.random(in: 0...900, using: &random))
                    chunked.append(element)
                    plain.append(element)
                }
                let before = chunked
                let unsorted = plain
                chunked.sort(from: sorted, by: <)
                plain.sort()
                sorted = plain.count
                #expect(Array(chunked) == plain)
                #expect(Array(before) == unsorted, "a copy keeps its own order")
            }
        }
    }
}
