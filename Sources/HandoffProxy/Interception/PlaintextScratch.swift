internal import Synchronization

/// Memory in which plaintext lies between being decrypted for one side and encrypted for the other. That happens without
/// a wait in between, so a few pieces serve all connections.
enum PlaintextScratch {
    /// Bytes of one piece.
    static let size = 64 << 10
    /// Pieces kept for the next user; one a loop is in use at a time.
    static let kept = 64

    // The memory belongs to the list, or to who took it: never to two.
    private struct Piece: @unchecked Sendable {
        var memory: UnsafeMutableRawBufferPointer
    }

    private static let free = Mutex<[Piece]>([])

    /// Takes a piece; its content is undefined.
    static func take() -> UnsafeMutableRawBufferPointer {
        free.withLock { $0.popLast() }?.memory ?? .allocate(byteCount: size, alignment: 16)
    }

    /// Gives a piece back.
    static func giveBack(_ memory: UnsafeMutableRawBufferPointer) {
        let piece = Piece(memory: memory)
        let isKept = free.withLock { free in
            guard free.count < kept else { return false }
            free.append(piece)
            return true
        }
        if !isKept { piece.memory.deallocate() }
    }
}
