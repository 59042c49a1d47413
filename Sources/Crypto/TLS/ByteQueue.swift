/// Bytes in, bytes out, in order: the memory between a TLS connection and whoever moves its bytes.
internal import Glibc

/// A queue of bytes in one contiguous piece of memory. Owned once; its memory goes with it.
struct ByteQueue: ~Copyable {
    /// An empty queue keeps at most this much memory (bytes), so that an idle connection costs little.
    static let keptWhenEmpty = 1 << 12

    private var memory: UnsafeMutableRawPointer?
    private var capacity = 0
    private var head = 0
    private var tail = 0
    /// Bytes behind the queued ones that lie in somebody else's memory, for as long as `lend` runs.
    private var lent = UnsafeRawBufferPointer(start: nil, count: 0)

    init() {}

    deinit {
        free(memory)
    }

    /// How many bytes are queued, lent ones among them.
    var count: Int { tail - head + lent.count }

    /// The queued bytes: valid until the queue changes.
    var bytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: memory.map { UnsafeRawPointer($0 + head) }, count: tail - head)
    }

    /// Makes room for `count` more bytes; false when there is no memory.
    mutating func reserve(_ count: Int) -> Bool {
        if count <= capacity - tail { return true }
        let used = tail - head
        if head > 0, let memory {
            memmove(memory, memory + head, used)
            head = 0
            tail = used
            if count <= capacity - tail { return true }
        }
        let (needed, overflow) = used.addingReportingOverflow(count)
        guard !overflow, needed < 1 << 40 else { return false }
        let grown = max(needed, min(capacity * 2, capacity + 1 << 20), 1_024)
        guard let larger = realloc(memory, grown) else { return false }
        memory = larger
        capacity = grown
        return true
    }

    /// Adds bytes at the end; false when there is no memory.
    mutating func append(_ bytes: UnsafeRawPointer, _ count: Int) -> Bool {
        guard reserve(count), let memory else { return count == 0 }
        memcpy(memory + tail, bytes, count)
        tail += count
        return true
    }

    /// Puts bytes behind the queued ones without a copy, until `endLending`; they must stay as they are until then.
    mutating func lend(_ bytes: UnsafeRawBufferPointer) {
        lent = bytes
    }

    /// Copies what is left of the bytes that were lent; false when there is no memory.
    mutating func endLending() -> Bool {
        let left = lent
        lent = UnsafeRawBufferPointer(start: nil, count: 0)
        guard let start = left.baseAddress, left.count > 0 else { return true }
        return append(start, left.count)
    }

    /// Moves at most `count` bytes from the front to `destination`; returns how many.
    mutating func take(_ count: Int, into destination: UnsafeMutableRawPointer) -> Int {
        var taken = min(count, tail - head)
        if taken > 0, let memory {
            memcpy(destination, memory + head, taken)
            drop(taken)
        }
        let more = min(count - taken, lent.count)
        if more > 0, let start = lent.baseAddress {
            memcpy(destination + taken, start, more)
            lent = UnsafeRawBufferPointer(rebasing: lent[more...])
            taken += more
        }
        return taken
    }

    /// Removes at most `count` bytes from the front.
    mutating func drop(_ count: Int) {
        head += min(max(count, 0), tail - head)
        guard head == tail else { return }
        head = 0
        tail = 0
        if capacity > Self.keptWhenEmpty {
            free(memory)
            memory = nil
            capacity = 0
        }
    }
}

/// Ciphertext taken out of an engine, to be written to the peer.
public struct TLSOutput {
    /// The bytes to send, in order. They belong to the engine: valid until the next `takeOutput` or the engine's end,
    /// whatever else it does meanwhile.
    public let bytes: UnsafeRawBufferPointer
    /// How many bytes there are.
    public var count: Int { bytes.count }
}
