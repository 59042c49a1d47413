internal import CBrotli

/// The brotli library's decoder (RFC 7932). The handle is owned here alone and destroyed in `deinit`.
struct BrotliStream: ~Copyable {
    private static let scratchSize = 64 << 10

    private let handle: OpaquePointer?
    private let scratch: UnsafeMutablePointer<UInt8>

    init() {
        handle = BrotliDecoderCreateInstance(nil, nil, nil)
        scratch = .allocate(capacity: Self.scratchSize)
    }

    deinit {
        if let handle { BrotliDecoderDestroyInstance(handle) }
        scratch.deallocate()
    }

    /// Decodes what is given; see `ContentDecoder.decode`.
    func decode(_ input: UnsafeRawBufferPointer, into output: inout [UInt8], limit: Int, step: inout Step) {
        guard let handle else {
            step.fail(.tooMuchMemory, "no memory for a brotli decoder")
            return
        }
        let end = output.count + min(limit, Int.max - output.count)
        while true {
            if BrotliDecoderIsFinished(handle) == BROTLI_TRUE {
                step.status = step.consumed < input.count ? .trailingBytes : .atBoundary
                return
            }
            let room = min(Self.scratchSize, end - output.count)
            var availableIn = input.count - step.consumed
            var next = input.baseAddress.map { ($0 + step.consumed).assumingMemoryBound(to: UInt8.self) }
            var availableOut = room
            var target: UnsafeMutablePointer<UInt8>? = scratch
            let before = availableIn
            let result = BrotliDecoderDecompressStream(handle, &availableIn, &next, &availableOut, &target, nil)
            step.consumed += before - availableIn
            output.append(contentsOf: UnsafeBufferPointer(start: scratch, count: room - availableOut))
            switch result {
            case BROTLI_DECODER_RESULT_SUCCESS:
                continue
            case BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT:
                guard output.count >= end else { continue }
                step.status = .outputFull
                return
            case BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT:
                return
            default:
                let words = BrotliDecoderErrorString(BrotliDecoderGetErrorCode(handle)).map { String(cString: $0) }
                step.fail(.corrupt, words ?? "brotli error")
                return
            }
        }
    }
}
