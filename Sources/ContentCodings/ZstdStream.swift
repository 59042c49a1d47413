internal import CZstd

/// The zstd library's streaming decoder (RFC 8878): frames one after another, skippable ones passed over. The handle is
/// owned here alone and freed in `deinit`.
struct ZstdStream: ~Copyable {
    private struct State {
        /// The frame's first bytes, until they tell whether it is a frame at all.
        var magic: [UInt8] = []
        var isInsideFrame = false
        var framesEnded = 0
        var hasEnded = false
        var hasFailed = false
        /// The last call filled the output, so the library may hold more without needing input.
        var holdsOutput = false
    }

    private static let scratchSize = 128 << 10
    private static let magicLength = 4

    private let handle: OpaquePointer?
    private let scratch: UnsafeMutablePointer<UInt8>
    private let state: UnsafeMutablePointer<State>

    init() {
        handle = ZSTD_createDCtx()
        scratch = .allocate(capacity: Self.scratchSize)
        state = .allocate(capacity: 1)
        state.initialize(to: State())
    }

    deinit {
        if let handle { ZSTD_freeDCtx(handle) }
        scratch.deallocate()
        state.deinitialize(count: 1)
        state.deallocate()
    }

    /// Decodes what is given; see `ContentDecoder.decode`.
    func decode(_ input: UnsafeRawBufferPointer, into output: inout [UInt8], limit: Int, step: inout Step) {
        guard let handle, !state.pointee.hasFailed else {
            step.fail(.corrupt, "decoding had failed before")
            return
        }
        let end = output.count + min(limit, Int.max - output.count)
        while true {
            if state.pointee.hasEnded {
                step.status = step.consumed < input.count ? .trailingBytes : .atBoundary
                return
            }
            if !state.pointee.isInsideFrame {
                guard beginFrame(handle, input, into: &output, end: end, step: &step) else { return }
                continue
            }
            if step.consumed == input.count, !state.pointee.holdsOutput { return }
            if output.count >= end {
                step.status = .outputFull
                return
            }
            let rest = UnsafeRawBufferPointer(rebasing: input[step.consumed...])
            guard let used = run(handle, rest, into: &output, end: end, step: &step) else { return }
            step.consumed += used
        }
    }

    /// Collects the four magic bytes of the next frame and feeds them. False: the call is over.
    private func beginFrame(
        _ handle: OpaquePointer, _ input: UnsafeRawBufferPointer, into output: inout [UInt8], end: Int,
        step: inout Step
    ) -> Bool {
        while state.pointee.magic.count < Self.magicLength {
            guard step.consumed < input.count else {
                let isBetween = state.pointee.magic.isEmpty && state.pointee.framesEnded > 0
                step.status = isBetween ? .atBoundary : .needsInput
                return false
            }
            state.pointee.magic.append(input[step.consumed])
            guard Self.mayBeMagic(state.pointee.magic) else {
                if state.pointee.framesEnded == 0 {
                    state.pointee.hasFailed = true
                    step.fail(.corrupt, "no zstd frame")
                    return false
                }
                state.pointee.hasEnded = true
                return true
            }
            step.consumed += 1
        }
        let magic = state.pointee.magic
        state.pointee.magic = []
        state.pointee.isInsideFrame = true
        return magic.withUnsafeBytes { run(handle, $0, into: &output, end: end, step: &step) } != nil
    }

    /// One call of the library. The bytes of `piece` that it used; nil after an error.
    private func run(
        _ handle: OpaquePointer, _ piece: UnsafeRawBufferPointer, into output: inout [UInt8], end: Int,
        step: inout Step
    ) -> Int? {
        var source = ZSTD_inBuffer(src: piece.baseAddress, size: piece.count, pos: 0)
        var target = ZSTD_outBuffer(dst: scratch, size: min(Self.scratchSize, end - output.count), pos: 0)
        let result = ZSTD_decompressStream(handle, &target, &source)
        output.append(contentsOf: UnsafeBufferPointer(start: scratch, count: target.pos))
        if ZSTD_isError(result) != 0 {
            state.pointee.hasFailed = true
            let words = ZSTD_getErrorName(result).map { String(cString: $0) } ?? "zstd error"
            let isMemory = ZSTD_getErrorCode(result) == ZSTD_error_frameParameter_windowTooLarge
            step.fail(isMemory ? .tooMuchMemory : .corrupt, words)
            return nil
        }
        state.pointee.holdsOutput = target.pos == target.size && result != 0
        if result == 0 {
            state.pointee.isInsideFrame = false
            state.pointee.framesEnded += 1
        }
        return source.pos
    }

    /// Whether `bytes` can be the start of a frame's magic number, a skippable frame's included.
    private static func mayBeMagic(_ bytes: [UInt8]) -> Bool {
        let isFrame = zip(bytes, [0x28, 0xB5, 0x2F, 0xFD] as [UInt8]).allSatisfy { $0 == $1 }
        let isSkippable =
            bytes[0] & 0xF0 == 0x50 && zip(bytes.dropFirst(), [0x2A, 0x4D, 0x18] as [UInt8]).allSatisfy { $0 == $1 }
        return isFrame || isSkippable
    }
}
