import Testing

@testable import EventLoop

@Suite struct FreedMemoryTests {
    /// The heaps that are there, and those to come.
    @Test func freedPagesGoBackSoon() {
        FreedMemory.returnSoon()
        #expect(FreedMemory.delay(of: "arena.0") == FreedMemory.delay)
        #expect(FreedMemory.delay(of: "arenas") == FreedMemory.delay)
        #expect(FreedMemory.delay(of: "arena.4000") == nil)
    }
}
