import SessionTrace

/// The framing of pcapng (draft-ietf-opsawg-pcapng): sections of blocks, each section in its own byte order.
///
/// ```
/// start ──section header──► readable ──section header──► readable …
///                      └──► unreadable (version not known: blocks are stepped over up to the next section header)
/// a block longer than the limit is stepped over in pieces; a length that can't be true ends the reading
/// ```
struct PcapngSections {
    private enum State {
        case start, readable, unreadable
    }

    private static let headLength = 8
    private static let shortestBlock = 12

    private var state = State.start
    private var isSwapped = false
    private var bytesToPass: UInt64 = 0
    private var content = PcapngSection(swapped: false)
    private var sections = 0

    mutating func step(
        _ window: UnsafeRawBufferPointer, isFinal: Bool, progress: inout CaptureProgress
    ) -> CaptureParser.Step {
        if bytesToPass > 0 { return pass(window, isFinal: isFinal, progress: &progress) }
        guard window.count >= Self.shortestBlock else {
            if !isFinal { return .needsMore(atLeast: Self.shortestBlock) }
            if window.isEmpty { return .end }
            progress.cut(inside: "a block", present: window.count, needed: Self.shortestBlock)
            return .end
        }
        let type = window.loadInteger(UInt32.self, at: 0, swapped: isSwapped)
        if type == BlockType.section, !takeByteOrder(window) {
            progress.damage(
                at: progress.offset, "a section header without a byte-order mark; nothing after it can be read")
            return .end
        }
        let claimed = Int(window.loadInteger(UInt32.self, at: 4, swapped: isSwapped))
        guard claimed >= Self.shortestBlock else {
            progress.damage(
                at: progress.offset, "a block claims to be \(claimed) bytes long; nothing after it can be read")
            return .end
        }
        guard claimed <= progress.limits.block else {
            return passLongBlock(type: type, length: claimed, window, isFinal: isFinal, progress: &progress)
        }
        let length: Int
        switch frame(window, claimed: claimed, isFinal: isFinal) {
        case .whole(let whole): length = whole
        case .needsMore(let count): return .needsMore(atLeast: count)
        case .cut:
            progress.cut(inside: "a block", present: window.count, needed: claimed)
            return .end
        case .liesButNextFollows(let trailing):
            progress.damage(
                at: progress.offset, "a block of \(claimed) bytes ends with the length \(trailing); read all the same")
            length = claimed
        case .lies(let trailing):
            progress.damage(
                at: progress.offset,
                "a block claims to be \(claimed) bytes long and ends with the length \(trailing); nothing from here on can be read"
            )
            return .end
        }
        let body = UnsafeRawBufferPointer(rebasing: window[Self.headLength..<claimed - 4])
        if type == BlockType.section { return header(body, length: length, progress: &progress) }
        guard state == .readable else { return .passed(length: length) }
        guard let record = content.record(type: type, body: body, progress: &progress) else {
            return .passed(length: length)
        }
        return .record(record, length: length)
    }

    // MARK: Framing

    private enum Frame {
        case whole(Int)
        case needsMore(Int)
        case cut
        /// The two lengths differ, but what follows the first looks like the next block.
        case liesButNextFollows(trailing: UInt32)
        case lies(trailing: UInt32)
    }

    /// Compares the length at the end of a block with the one at its start.
    private func frame(_ window: UnsafeRawBufferPointer, claimed: Int, isFinal: Bool) -> Frame {
        guard window.count >= claimed else { return isFinal ? .cut : .needsMore(claimed) }
        let trailing = window.loadInteger(UInt32.self, at: claimed - 4, swapped: isSwapped)
        if trailing == UInt32(claimed), claimed & 3 == 0 { return .whole(claimed) }

        // From here on something is wrong. Some writers forget to count the padding; else see what comes next.
        let padded = (claimed + 3) & ~3
        let lookahead = padded + Self.headLength
        if window.count < lookahead, !isFinal { return .needsMore(lookahead) }
        if trailing == UInt32(claimed), looksLikeNextBlock(window, at: claimed) { return .whole(claimed) }
        if padded != claimed, window.count >= padded,
            window.loadInteger(UInt32.self, at: padded - 4, swapped: isSwapped) == UInt32(claimed)
        {
            return .whole(padded)
        }
        return looksLikeNextBlock(window, at: claimed)
            ? .liesButNextFollows(trailing: trailing) : .lies(trailing: trailing)
    }

    private func looksLikeNextBlock(_ window: UnsafeRawBufferPointer, at index: Int) -> Bool {
        if window.count == index { return true }
        guard window.count >= index + Self.headLength else { return false }
        let type = window.loadInteger(UInt32.self, at: index, swapped: isSwapped)
        // A section header may be in the other byte order, which its length then can't tell.
        if type == BlockType.section { return true }
        let length = window.loadInteger(UInt32.self, at: index + 4, swapped: isSwapped)
        return BlockType.isPlausible(type) && length >= UInt32(Self.shortestBlock) && length & 3 == 0
    }

    /// Sets the byte order from a section header's mark; false if there is none.
    private mutating func takeByteOrder(_ window: UnsafeRawBufferPointer) -> Bool {
        switch window.loadUnaligned(fromByteOffset: 8, as: UInt32.self) {
        case 0x1A2B_3C4D: isSwapped = false
        case 0x4D3C_2B1A: isSwapped = true
        default: return false
        }
        return true
    }

    private mutating func passLongBlock(
        type: UInt32, length: Int, _ window: UnsafeRawBufferPointer, isFinal: Bool, progress: inout CaptureProgress
    ) -> CaptureParser.Step {
        progress.damage(
            at: progress.offset,
            "a block of \(length) bytes is longer than \(progress.limits.block) and was not read")
        if type == BlockType.section {
            state = .unreadable
            progress.hasUnreadSections = true
        } else if state == .readable {
            content.passed(type: type, progress: &progress)
        }
        bytesToPass = UInt64(length)
        return pass(window, isFinal: isFinal, progress: &progress)
    }

    private mutating func pass(
        _ window: UnsafeRawBufferPointer, isFinal: Bool, progress: inout CaptureProgress
    ) -> CaptureParser.Step {
        guard !window.isEmpty else {
            if !isFinal { return .needsMore(atLeast: 1) }
            progress.cut(inside: "a block that was not read", present: 0, needed: Int(clamping: bytesToPass))
            return .end
        }
        let count = Int(min(bytesToPass, UInt64(window.count)))
        bytesToPass -= UInt64(count)
        return .passed(length: count)
    }

    // MARK: Section header

    private mutating func header(
        _ body: UnsafeRawBufferPointer, length: Int, progress: inout CaptureProgress
    ) -> CaptureParser.Step {
        guard body.count >= 16 else {
            progress.damage(at: progress.offset, "a section header of \(length) bytes; nothing after it can be read")
            return .end
        }
        let major = body.loadInteger(UInt16.self, at: 4, swapped: isSwapped)
        let minor = body.loadInteger(UInt16.self, at: 6, swapped: isSwapped)
        // 1.2 was written by mistake and reads like 1.0 (pcapng §4.1).
        guard major == 1, minor == 0 || minor == 2 else {
            progress.hasUnreadSections = true
            progress.note(
                at: progress.offset, "a section of version \(major).\(minor), which is not known, was skipped")
            state = .unreadable
            return .passed(length: length)
        }
        state = .readable
        content = PcapngSection(swapped: isSwapped)
        sections += 1
        var section = CaptureSection(index: sections - 1)
        var options = PcapngOptions(UnsafeRawBufferPointer(rebasing: body[16...]), swapped: isSwapped)
        while let (code, value) = options.next() {
            switch code {
            case PcapngOptions.comment: section.comments.append(PcapngOptions.text(value))
            case 2: section.hardware = PcapngOptions.text(value)
            case 3: section.operatingSystem = PcapngOptions.text(value)
            case 4: section.userApplication = PcapngOptions.text(value)
            default: break
            }
        }
        content.check(options, progress: &progress)
        return .record(.section(section), length: length)
    }
}
