/// A first-in, first-out queue in one block of memory that grows by doubling and is never given back.
struct JobQueue<Element> {
    private var storage: UnsafeMutablePointer<Element>
    private var capacity: Int
    private var head = 0
    private(set) var count = 0

    init(capacity: Int = 256) {
        var power = 16
        while power < capacity { power *= 2 }
        self.capacity = power
        storage = .allocate(capacity: power)
    }

    var isEmpty: Bool { count == 0 }

    mutating func append(_ element: consuming Element) {
        if count == capacity { grow() }
        // The capacity is a power of two.
        (storage + ((head &+ count) & (capacity &- 1))).initialize(to: element)
        count &+= 1
    }

    mutating func popFirst() -> Element? {
        guard count > 0 else { return nil }
        let element = (storage + head).move()
        head = (head &+ 1) & (capacity &- 1)
        count &-= 1
        return element
    }

    private mutating func grow() {
        let larger = UnsafeMutablePointer<Element>.allocate(capacity: capacity * 2)
        let first = capacity - head
        larger.moveInitialize(from: storage + head, count: first)
        (larger + first).moveInitialize(from: storage, count: head)
        storage.deallocate()
        storage = larger
        capacity *= 2
        head = 0
    }

    /// Frees the memory; elements still inside are destroyed.
    mutating func deallocate() {
        while popFirst() != nil {}
        storage.deallocate()
    }
}
