import SessionTrace

/// What the parsers of both formats keep in common: position, counters, and what there is to say.
struct CaptureProgress {
    let limits: CaptureLimits
    /// Bytes of the file before the current window.
    var offset: UInt64 = 0
    var packets = 0
    var interfaces = 0
    var lastTime = Instant(nanoseconds: 0)
    var isCutShort = false
    var isDamaged = false
    var hasUnreadSections = false
    private(set) var notes: [CaptureNote] = []
    private var unkeptNotes = 0
    private var skipped: [UInt32: (count: Int, firstOffset: UInt64)] = [:]
    private var skippedOfOtherKinds = 0

    init(limits: CaptureLimits) {
        self.limits = limits
    }

    mutating func note(at offset: UInt64, _ text: String) {
        if notes.count < limits.notes {
            notes.append(CaptureNote(offset: offset, text: text))
        } else {
            unkeptNotes += 1
        }
    }

    /// Says that something at `offset` contradicts the format; the file counts as incompletely read.
    mutating func damage(at offset: UInt64, _ text: String) {
        isDamaged = true
        note(at: offset, text)
    }

    /// Says that the file ends inside the thing that starts at the current offset.
    mutating func cut(inside what: String, present: Int, needed: Int) {
        isCutShort = true
        note(at: offset, "the file ends inside \(what): \(present) of at least \(needed) bytes")
    }

    /// Counts a block of a type that is not read.
    mutating func skip(blockType: UInt32) {
        if let known = skipped[blockType] {
            skipped[blockType] = (known.count + 1, known.firstOffset)
        } else if skipped.count < limits.skippedKinds {
            skipped[blockType] = (1, offset)
        } else {
            skippedOfOtherKinds += 1
        }
    }

    /// All notes, with those that only the end of the file can give.
    var allNotes: [CaptureNote] {
        var all = notes
        if unkeptNotes > 0 {
            all.append(CaptureNote(offset: offset, text: "\(unkeptNotes) more such places"))
        }
        for (type, entry) in skipped.sorted(by: { $0.value.firstOffset < $1.value.firstOffset }) {
            let kind =
                type == BlockType.custom || type == BlockType.customNoCopy
                ? "custom" : "type 0x\(String(type, radix: 16))"
            all.append(
                CaptureNote(
                    offset: entry.firstOffset,
                    text: entry.count == 1 ? "a block of \(kind) skipped" : "\(entry.count) blocks of \(kind) skipped"))
        }
        if skippedOfOtherKinds > 0 {
            all.append(CaptureNote(offset: offset, text: "\(skippedOfOtherKinds) blocks of other types skipped"))
        }
        return all
    }
}

/// Block types of pcapng that are read or told apart here (pcapng §11.1).
enum BlockType {
    static let section: UInt32 = 0x0A0D_0D0A
    static let interface: UInt32 = 1
    static let obsoletePacket: UInt32 = 2
    static let simplePacket: UInt32 = 3
    static let names: UInt32 = 4
    static let statistics: UInt32 = 5
    static let enhancedPacket: UInt32 = 6
    static let secrets: UInt32 = 10
    static let custom: UInt32 = 0x0BAD
    static let customNoCopy: UInt32 = 0x4000_0BAD
    /// Apple's process event block, local use.
    static let darwinProcess: UInt32 = 0x8000_0001

    /// Whether tshark gives a block of this type a frame number although it holds no packet: custom blocks, system
    /// journal entries, system call events (found by trying).
    static func isNumberedByTshark(_ type: UInt32) -> Bool {
        switch type {
        case custom, customNoCopy, 9, 0x204, 0x216, 0x221: true
        default: false
        }
    }

    /// Whether a reader that lost its way may take `type` for the start of a block.
    static func isPlausible(_ type: UInt32) -> Bool {
        switch type {
        case section, 1...14, 0x0201...0x0213, custom, customNoCopy, darwinProcess: true
        default: false
        }
    }
}
