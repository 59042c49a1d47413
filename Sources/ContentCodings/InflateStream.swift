internal import CZlib

/// zlib's inflater for gzip, zlib and raw deflate. The state lives behind a pointer because zlib keeps the address of
/// its `z_stream`; the pointer is owned here alone and freed in `deinit`.
struct InflateStream: ~Copyable {
    /// The wrapper around the deflate stream.
    enum Format {
        case gzip
        case zlibOrRaw
        case raw
    }

    private enum Phase {
        /// Nothing decided: fewer than two bytes of a zlib-or-raw stream were seen; `held` has the first.
        case detecting(held: UInt8?)
        /// Inside a member.
        case member
        /// A gzip member has ended; another may follow.
        case betweenMembers
        /// A later gzip member's first byte was seen, and it was right.
        case secondMagicByte
        /// Nothing more can follow.
        case ended
        /// zlib could not be set up, or has failed.
        case failed
    }

    private struct State {
        var stream = z_stream()
        var phase: Phase
        let format: Format
        var isOpen = false
    }

    /// Bytes inflated in one go.
    private static let scratchSize = 64 << 10

    private let state: UnsafeMutablePointer<State>
    private let scratch: UnsafeMutablePointer<UInt8>

    init(_ format: Format) {
        state = .allocate(capacity: 1)
        scratch = .allocate(capacity: Self.scratchSize)
        switch format {
        case .zlibOrRaw: state.initialize(to: State(phase: .detecting(held: nil), format: format))
        case .gzip, .raw: state.initialize(to: State(phase: .member, format: format))
        }
        switch format {
        case .gzip: open(windowBits: 15 + 16)
        case .raw: open(windowBits: -15)
        case .zlibOrRaw: break
        }
    }

    deinit {
        if state.pointee.isOpen { inflateEnd(&state.pointee.stream) }
        state.deinitialize(count: 1)
        state.deallocate()
        scratch.deallocate()
    }

    /// Decodes what is given; see `ContentDecoder.decode`.
    func decode(_ input: UnsafeRawBufferPointer, into output: inout [UInt8], limit: Int, step: inout Step) {
        let end = output.count + min(limit, Int.max - output.count)
        while true {
            switch state.pointee.phase {
            case .detecting(let held):
                guard step.consumed < input.count else { return }
                guard let first = held else {
                    state.pointee.phase = .detecting(held: input[step.consumed])
                    step.consumed += 1
                    continue
                }
                open(windowBits: Self.isZlibHeader(first, input[step.consumed]) ? 15 : -15)
                var one = first
                withUnsafeBytes(of: &one) { byte in
                    var ignored = Step(offset: 0)
                    inflatePieces(byte, into: &output, end: end, step: &ignored)
                }
            case .member:
                inflatePieces(input, into: &output, end: end, step: &step)
                switch state.pointee.phase {
                case .betweenMembers, .ended: continue
                case .member, .failed, .detecting, .secondMagicByte: return
                }
            case .betweenMembers:
                guard step.consumed < input.count else {
                    step.status = .atBoundary
                    return
                }
                guard input[step.consumed] == 0x1F else {
                    state.pointee.phase = .ended
                    continue
                }
                step.consumed += 1
                state.pointee.phase = .secondMagicByte
            case .secondMagicByte:
                guard step.consumed < input.count else { return }
                guard input[step.consumed] == 0x8B else {
                    state.pointee.phase = .ended
                    continue
                }
                inflateReset(&state.pointee.stream)
                state.pointee.phase = .member
                var magic: UInt8 = 0x1F
                withUnsafeBytes(of: &magic) { byte in
                    var ignored = Step(offset: 0)
                    inflatePieces(byte, into: &output, end: end, step: &ignored)
                }
            case .ended:
                step.status = step.consumed < input.count ? .trailingBytes : .atBoundary
                return
            case .failed:
                step.fail(.corrupt, "decoding had failed before")
                return
            }
        }
    }

    private func open(windowBits: Int32) {
        let code = handoff_inflate_init(&state.pointee.stream, windowBits)
        state.pointee.isOpen = code == Z_OK
        state.pointee.phase = code == Z_OK ? .member : .failed
    }

    /// Runs zlib over the rest of `input` until it is used up, the output is full, or the member ends.
    private func inflatePieces(
        _ input: UnsafeRawBufferPointer, into output: inout [UInt8], end: Int, step: inout Step
    ) {
        while true {
            let room = min(Self.scratchSize, end - output.count)
            let available = min(input.count - step.consumed, Int(UInt32.max))
            // zlib never writes through next_in; the type is mutable only for C's history.
            let source = input.baseAddress.map { UnsafeMutableRawPointer(mutating: $0 + step.consumed) }
            state.pointee.stream.next_in = source?.assumingMemoryBound(to: UInt8.self)
            state.pointee.stream.avail_in = UInt32(available)
            state.pointee.stream.next_out = scratch
            state.pointee.stream.avail_out = UInt32(room)
            let code = inflate(&state.pointee.stream, Z_SYNC_FLUSH)
            step.consumed += available - Int(state.pointee.stream.avail_in)
            let produced = room - Int(state.pointee.stream.avail_out)
            output.append(contentsOf: UnsafeBufferPointer(start: scratch, count: produced))
            state.pointee.stream.next_in = nil
            switch code {
            case Z_STREAM_END:
                state.pointee.phase = state.pointee.format == .gzip ? .betweenMembers : .ended
                return
            case Z_OK, Z_BUF_ERROR:
                if state.pointee.stream.avail_out == 0 {
                    guard output.count >= end else { continue }
                    step.status = .outputFull
                    return
                }
                guard step.consumed < input.count, code == Z_OK else { return }
            case Z_NEED_DICT:
                state.pointee.phase = .failed
                step.fail(.needsDictionary, "the zlib stream names a preset dictionary")
                return
            default:
                state.pointee.phase = .failed
                let words = state.pointee.stream.msg.map { String(cString: $0) } ?? "zlib error \(code)"
                step.fail(code == Z_MEM_ERROR ? .tooMuchMemory : .corrupt, words)
                return
            }
        }
    }

    /// RFC 1950 §2.2: method 8, a window of at most 32 KiB, and the check bits.
    static func isZlibHeader(_ first: UInt8, _ second: UInt8) -> Bool {
        first & 0x0F == 8 && first >> 4 <= 7 && (Int(first) << 8 | Int(second)) % 31 == 0
    }

    /// Forgets the window and starts a new stream of the same format (raw deflate without context takeover).
    func reset() {
        guard state.pointee.isOpen else { return }
        inflateReset(&state.pointee.stream)
        state.pointee.phase = .member
    }
}
