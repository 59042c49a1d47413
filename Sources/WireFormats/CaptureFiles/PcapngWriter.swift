public import SessionTrace

/// Writes pcapng: values in, the bytes of whole blocks out (draft-ietf-opsawg-pcapng).
///
/// Bytes gather in `bytes` until they are taken; each call adds exactly one block, so that a file cut between two
/// takes is whole. A text longer than an option can hold (65,535 bytes) is cut at a character.
public struct PcapngWriter: Sendable {
    /// The byte order of a section.
    public enum ByteOrder: Sendable {
        case little, big
    }

    /// Blocks written and not yet taken.
    public private(set) var bytes: [UInt8] = []
    private let byteOrder: ByteOrder
    /// The time units of the section's interfaces.
    private var resolutions: [TimestampResolution] = []

    /// A writer with nothing written; `section` has to come first.
    public init(byteOrder: ByteOrder = .little) {
        self.byteOrder = byteOrder
    }

    /// Takes the blocks that were written since the last take.
    public mutating func takeBytes() -> [UInt8] {
        let taken = bytes
        bytes.removeAll(keepingCapacity: true)
        return taken
    }

    /// Gives the blocks that were written since the last take, and takes an array whose space is used for the next ones,
    /// so that two arrays going to and fro serve a file of any length.
    public mutating func exchangeBytes(_ space: inout [UInt8]) {
        space.removeAll(keepingCapacity: true)
        swap(&bytes, &space)
    }

    /// Forgets the blocks that were written since the last take.
    public mutating func dropBytes() {
        bytes = []
    }

    /// Section header block: forgets the interfaces of the section before.
    public mutating func section(
        userApplication: String? = nil, hardware: String? = nil, operatingSystem: String? = nil, comments: [String] = []
    ) {
        resolutions = []
        let start = open(BlockType.section)
        append(0x1A2B_3C4D as UInt32)
        append(1 as UInt16)
        append(0 as UInt16)
        append(UInt64.max)  // the section's length is not told
        options(comments: comments, [(2, hardware), (3, operatingSystem), (4, userApplication)]) { _ in }
        close(start)
    }

    /// Interface description block; the section's interfaces are numbered from 0 in the order of these calls.
    public mutating func interface(
        linkType: LinkType, snapLength: Int = 262_144, name: String? = nil, description: String? = nil,
        filter: String? = nil, resolution: TimestampResolution = .nanoseconds, comments: [String] = []
    ) {
        let start = open(BlockType.interface)
        append(UInt16(truncatingIfNeeded: linkType.rawValue))
        append(0 as UInt16)
        append(UInt32(clamping: snapLength))
        options(comments: comments, [(2, name), (3, description), (11, filter.map { "\0" + $0 })]) { writer in
            writer.option(9, [resolution.optionByte])
            if resolution.offsetSeconds != 0 {
                writer.option(14, integer: UInt64(bitPattern: resolution.offsetSeconds))
            }
        }
        close(start)
        resolutions.append(resolution)
    }

    /// Enhanced packet block. `originalLength` is the packet's length on the wire when more than was captured.
    public mutating func packet(
        _ packet: UnsafeRawBufferPointer, interface: Int = 0, at time: Instant, originalLength: Int? = nil,
        comments: [String] = [], droppedBefore: UInt64 = 0
    ) {
        self.packet(
            packet, UnsafeRawBufferPointer(start: nil, count: 0), interface: interface, at: time,
            originalLength: originalLength, comments: comments, droppedBefore: droppedBefore)
    }

    /// Enhanced packet block of a packet in two pieces, headers and payload, each copied once.
    public mutating func packet(
        _ headers: UnsafeRawBufferPointer, _ payload: UnsafeRawBufferPointer, interface: Int = 0, at time: Instant,
        originalLength: Int? = nil, comments: [String] = [], droppedBefore: UInt64 = 0
    ) {
        let start = bytes.count
        let length = headers.count + payload.count
        let resolution = resolutions.indices.contains(interface) ? resolutions[interface] : .microseconds
        let units = resolution.units(at: time)
        appendWords(
            BlockType.enhancedPacket, 0, UInt32(clamping: interface), UInt32(truncatingIfNeeded: units >> 32),
            UInt32(truncatingIfNeeded: units), UInt32(clamping: length), UInt32(clamping: originalLength ?? length))
        bytes += headers
        bytes += payload
        pad()
        if !comments.isEmpty || droppedBefore > 0 {
            options(comments: comments, []) { writer in
                if droppedBefore > 0 { writer.option(4, integer: droppedBefore) }
            }
        }
        close(start)
    }

    /// Enhanced packet block of bytes held in an array.
    public mutating func packet(
        _ packet: [UInt8], interface: Int = 0, at time: Instant, originalLength: Int? = nil, comments: [String] = [],
        droppedBefore: UInt64 = 0
    ) {
        packet.withUnsafeBytes {
            self.packet(
                $0, interface: interface, at: time, originalLength: originalLength, comments: comments,
                droppedBefore: droppedBefore)
        }
    }

    /// Simple packet block: interface 0, no time.
    public mutating func simplePacket(_ packet: [UInt8], originalLength: Int? = nil) {
        let start = open(BlockType.simplePacket)
        append(UInt32(clamping: originalLength ?? packet.count))
        bytes += packet
        close(start)
    }

    /// Decryption secrets block.
    public mutating func secrets(_ secrets: DecryptionSecrets) {
        let start = open(BlockType.secrets)
        append(secrets.kind.rawValue)
        append(UInt32(clamping: secrets.bytes.count))
        bytes += secrets.bytes
        pad()
        if !secrets.comments.isEmpty { options(comments: secrets.comments, []) { _ in } }
        close(start)
    }

    /// Name resolution block.
    public mutating func names(_ names: NameResolution) {
        let start = open(BlockType.names)
        for entry in names.entries {
            var value: [UInt8] = []
            if entry.address.isIPv4 {
                value += (0..<4).map { UInt8(truncatingIfNeeded: entry.address.low >> UInt64(24 - 8 * $0)) }
            } else {
                for half in [entry.address.high, entry.address.low] {
                    value += (0..<8).map { UInt8(truncatingIfNeeded: half >> UInt64(56 - 8 * $0)) }
                }
            }
            for name in entry.names { value += Array(name.utf8) + [0] }
            option(entry.address.isIPv4 ? 1 : 2, value)
        }
        append(0 as UInt32)
        if !names.comments.isEmpty { options(comments: names.comments, []) { _ in } }
        close(start)
    }

    /// Interface statistics block; `statistics.interface` is the number within the section.
    public mutating func statistics(_ statistics: InterfaceStatistics) {
        let interface = statistics.interface
        let start = open(BlockType.statistics)
        append(UInt32(clamping: interface))
        append(time: statistics.time, interface: interface)
        let times: [(UInt16, Instant?)] = [(2, statistics.started), (3, statistics.ended)]
        let counts: [(UInt16, UInt64?)] = [
            (4, statistics.received), (5, statistics.droppedByInterface), (6, statistics.accepted),
            (7, statistics.droppedBySystem),
        ]
        options(comments: statistics.comments, []) { writer in
            for case (let code, let time?) in times {
                writer.append(code)
                writer.append(8 as UInt16)
                writer.append(time: time, interface: interface)
            }
            for case (let code, let count?) in counts { writer.option(code, integer: count) }
        }
        close(start)
    }

    /// A block of any type with the given body, padded; for what has no call of its own.
    public mutating func block(type: UInt32, body: [UInt8]) {
        let start = open(type)
        bytes += body
        close(start)
    }

    // MARK: Parts of blocks

    /// Starts a block; its length is filled in by `close`.
    private mutating func open(_ type: UInt32) -> Int {
        let start = bytes.count
        append(type)
        append(0 as UInt32)
        return start
    }

    private mutating func close(_ start: Int) {
        pad()
        let length = UInt32(clamping: bytes.count - start + 4)
        append(length)
        bytes.withUnsafeMutableBytes {
            $0.storeBytes(
                of: byteOrder == .little ? length.littleEndian : length.bigEndian, toByteOffset: start + 4,
                as: UInt32.self)
        }
    }

    /// Fills up to a multiple of four: every block is one, so that the sum tells.
    private mutating func pad() {
        switch bytes.count & 3 {
        case 1: append(0 as UInt16); bytes.append(0)
        case 2: append(0 as UInt16)
        case 3: bytes.append(0)
        default: break
        }
    }

    private mutating func options(
        comments: [String], _ texts: [(UInt16, String?)], others: (inout PcapngWriter) -> Void
    ) {
        let before = bytes.count
        for comment in comments { option(PcapngOptions.comment, text: comment) }
        for case (let code, let text?) in texts { option(code, text: text) }
        others(&self)
        if bytes.count > before { append(0 as UInt32) }
    }

    private mutating func option(_ code: UInt16, text: String) {
        var value = Array(text.utf8.prefix(Int(UInt16.max)))
        if value.count < text.utf8.count {
            // Not in the middle of a character: back to before its lead byte.
            while let last = value.last, last & 0xC0 == 0x80 { value.removeLast() }
            if let last = value.last, last >= 0x80 { value.removeLast() }
        }
        option(code, value)
    }

    private mutating func option(_ code: UInt16, _ value: [UInt8]) {
        append(code)
        append(UInt16(clamping: value.count))
        bytes += value.prefix(Int(UInt16.max))
        pad()
    }

    private mutating func option(_ code: UInt16, integer: UInt64) {
        append(code)
        append(8 as UInt16)
        append(integer)
    }

    /// Appends the words that a packet's block begins with, in one go.
    private mutating func appendWords(
        _ a: UInt32, _ b: UInt32, _ c: UInt32, _ d: UInt32, _ e: UInt32, _ f: UInt32, _ g: UInt32
    ) {
        let words: (UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32)
        if byteOrder == .little {
            words = (
                a.littleEndian, b.littleEndian, c.littleEndian, d.littleEndian, e.littleEndian, f.littleEndian,
                g.littleEndian
            )
        } else {
            words = (a.bigEndian, b.bigEndian, c.bigEndian, d.bigEndian, e.bigEndian, f.bigEndian, g.bigEndian)
        }
        withUnsafeBytes(of: words) { bytes += $0 }
    }

    private mutating func append(time: Instant, interface: Int) {
        let resolution = resolutions.indices.contains(interface) ? resolutions[interface] : .microseconds
        let units = resolution.units(at: time)
        append(UInt32(truncatingIfNeeded: units >> 32))
        append(UInt32(truncatingIfNeeded: units))
    }

    private mutating func append<Value: FixedWidthInteger>(_ value: Value) {
        withUnsafeBytes(of: byteOrder == .little ? value.littleEndian : value.bigEndian) { bytes += $0 }
    }
}
