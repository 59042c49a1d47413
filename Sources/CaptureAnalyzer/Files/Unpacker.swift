import ContentCodings

/// Undoes the packing of a file piece by piece: packed bytes from a descriptor in, content out. Memory is flat.
struct Unpacker: ~Copyable {
    private var decoder: ContentDecoder
    private let chunkLength: Int
    /// Packed bytes; those from `inputIndex` to `inputEnd` have not been decoded.
    private var input: [UInt8]
    private var inputIndex = 0
    private var inputEnd: Int
    /// Content; the bytes from `outputIndex` on have not been handed out.
    private var output: [UInt8] = []
    private var outputIndex = 0
    private var hasPendingOutput = false
    private var isExhausted = false
    private var hasEnded = false

    init(_ coding: ContentDecoder.Coding, head: [UInt8], chunkLength: Int) {
        decoder = ContentDecoder(coding)
        self.chunkLength = chunkLength
        input = head
        inputEnd = head.count
    }

    /// Hands out content, at most the size of `buffer`; 0 at its end. Sets `trouble` when it ends before it should.
    mutating func read(
        into buffer: UnsafeMutableRawBufferPointer, from descriptor: borrowing FileDescriptor, trouble: inout String?,
        hasTrailingBytes: inout Bool
    ) throws(SystemError) -> Int {
        while outputIndex == output.count, !hasEnded {
            try decode(from: descriptor, trouble: &trouble, hasTrailingBytes: &hasTrailingBytes)
        }
        let count = min(buffer.count, output.count - outputIndex)
        buffer.copyBytes(from: output[outputIndex..<outputIndex + count])
        outputIndex += count
        return count
    }

    private mutating func decode(
        from descriptor: borrowing FileDescriptor, trouble: inout String?, hasTrailingBytes: inout Bool
    ) throws(SystemError) {
        output.removeAll(keepingCapacity: true)
        outputIndex = 0
        if inputIndex == inputEnd, !isExhausted, !hasPendingOutput { try refill(from: descriptor) }
        var isFollowed = false
        do throws(ContentCodingError) {
            let progress = try decodeInput()
            inputIndex += progress.consumed
            hasPendingOutput = progress.status == .outputFull
            hasEnded = progress.status == .trailingBytes || (isExhausted && inputIndex == inputEnd && !hasPendingOutput)
            if hasEnded, !decoder.isAtBoundary { trouble = "the \(decoder.coding.rawValue) data ends early" }
            isFollowed = progress.status == .trailingBytes
        } catch {
            hasEnded = true
            trouble = "the \(decoder.coding.rawValue) data is damaged at its byte \(error.offset): \(error.detail)"
        }
        guard isFollowed else { return }
        // Tapes and file systems pad with zeros. Anything else may be more of the capture, which nobody unpacks.
        if try isPadding(from: descriptor) {
            hasTrailingBytes = true
        } else {
            trouble = "the \(decoder.coding.rawValue) data is followed by bytes that are none, and they were not read"
        }
    }

    /// Whether zeros are all that is left.
    private mutating func isPadding(from descriptor: borrowing FileDescriptor) throws(SystemError) -> Bool {
        while !isExhausted {
            if input[inputIndex..<inputEnd].contains(where: { $0 != 0 }) { return false }
            try refill(from: descriptor)
        }
        return true
    }

    private mutating func decodeInput() throws(ContentCodingError) -> ContentDecoder.Progress {
        let length = chunkLength
        return try input.withUnsafeBytes { bytes in
            Result { () throws(ContentCodingError) -> ContentDecoder.Progress in
                try decoder.decode(
                    UnsafeRawBufferPointer(rebasing: bytes[inputIndex..<inputEnd]), into: &output, limit: length)
            }
        }.get()
    }

    private mutating func refill(from descriptor: borrowing FileDescriptor) throws(SystemError) {
        if input.count < chunkLength { input = [UInt8](repeating: 0, count: chunkLength) }
        let outcome = input.withUnsafeMutableBytes { buffer in
            Result { () throws(SystemError) -> Int in try descriptor.read(into: buffer) }
        }
        let count = try outcome.get()
        isExhausted = count == 0
        inputIndex = 0
        inputEnd = count
    }
}
