internal import Dispatch
internal import Synchronization

/// The results of `transform` in the order of `elements`, computed on as many threads as there are processors, at most
/// `width`. Returns when all are done.
///
/// Each thread takes the next element when it is free, so that a long one holds up nobody; what is in memory at one time
/// is bounded by `width` elements.
func mapConcurrently<Element: Sendable, Result: Sendable>(
    _ elements: [Element], width: Int = 8, _ transform: @Sendable (Element) -> Result
) -> [Result] {
    guard elements.count > 1 else { return elements.map(transform) }
    let next = Atomic(0)
    let results = Mutex([Result?](repeating: nil, count: elements.count))
    DispatchQueue.concurrentPerform(iterations: min(width, elements.count)) { _ in
        while true {
            let index = next.add(1, ordering: .relaxed).oldValue
            guard index < elements.count else { return }
            let result = transform(elements[index])
            results.withLock { $0[index] = result }
        }
    }
    return results.withLock { $0.compactMap(\.self) }
}
