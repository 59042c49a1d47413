/// Reads capture files as bytes come in: classic pcap (both byte orders; microseconds, nanoseconds, and the `modified`
/// format with longer packet headers) and pcapng (any number of sections, each in its own byte order).
///
/// What enters: a window on the unread bytes. What leaves: one record at a time, whose packet bytes lie in that window.
/// Damage never throws: everything whole is used, the rest is said in `notes`.
public struct CaptureParser {
    /// What one look at the window gave.
    public enum Step {
        /// A record that takes up the first `length` bytes of the window; pass a window without them next time.
        case record(CaptureRecord, length: Int)
        /// Nothing to hand out; pass a window without the first `length` bytes next time.
        case passed(length: Int)
        /// The window must hold at least this many bytes (never more than `CaptureLimits.block` and a little).
        case needsMore(atLeast: Int)
        /// The file has been read, or can't be read any further.
        case end
    }

    private enum State {
        case undecided, classic, blocks, ended
    }

    private var state = State.undecided
    private var classic = ClassicCapture()
    private var blocks = PcapngSections()
    private var progress: CaptureProgress

    /// A parser at the start of a file.
    public init(limits: CaptureLimits = CaptureLimits()) {
        progress = CaptureProgress(limits: limits)
    }

    /// Reads the next thing from `window`, which starts right behind what earlier steps took.
    ///
    /// - Parameter isFinal: no bytes follow the window. Then the step never asks for more.
    /// - Throws: `CaptureFormatError` when the first bytes are those of no capture file.
    public mutating func step(_ window: UnsafeRawBufferPointer, isFinal: Bool) throws(CaptureFormatError) -> Step {
        let step: Step
        switch state {
        case .classic:
            step = classic.step(window, isFinal: isFinal, progress: &progress)
        case .blocks:
            step = blocks.step(window, isFinal: isFinal, progress: &progress)
        case .undecided:
            step = try start(window, isFinal: isFinal)
        case .ended:
            return .end
        }
        switch step {
        case .record(_, let length), .passed(let length): progress.offset &+= UInt64(truncatingIfNeeded: length)
        case .needsMore: break
        case .end: state = .ended
        }
        return step
    }

    private mutating func start(_ window: UnsafeRawBufferPointer, isFinal: Bool) throws(CaptureFormatError) -> Step {
        guard window.count >= 4 else {
            if isFinal { throw CaptureFormatError(firstBytes: Array(window)) }
            return .needsMore(atLeast: 4)
        }
        let magic = window.loadUnaligned(as: UInt32.self)
        if magic == BlockType.section {
            state = .blocks
            return blocks.step(window, isFinal: isFinal, progress: &progress)
        }
        guard classic.recognise(magic: magic) else {
            if window.count < 8, !isFinal { return .needsMore(atLeast: 8) }  // for the message alone
            throw CaptureFormatError(firstBytes: Array(window.prefix(8)))
        }
        state = .classic
        return classic.step(window, isFinal: isFinal, progress: &progress)
    }

    /// Bytes of the file that the steps so far took.
    public var offset: UInt64 { progress.offset }
    /// Packets found so far, in the count of `PacketReference.number`.
    public var packets: Int { progress.packets }
    /// Interfaces found so far.
    public var interfaces: Int { progress.interfaces }
    /// The file ends inside a block or packet.
    public var isCutShort: Bool { progress.isCutShort }
    /// Something in the file contradicts its format, so that something could not be used.
    public var isDamaged: Bool { progress.isDamaged }
    /// Sections of a version that is not known were skipped.
    public var hasUnreadSections: Bool { progress.hasUnreadSections }
    /// What there is to say so far; ask again at the end.
    public var notes: [CaptureNote] { progress.allNotes }
}
