internal import SessionTrace
internal import WireFormats

/// Puts fragmented IP datagrams together, in bounded memory. Enters: fragments; leaves: whole datagrams, and those that
/// were given up. Of overlapping fragments the first bytes are kept. RFC 791 §3.2, RFC 8200 §4.5.
struct FragmentTable {
    /// What a datagram's fragments have in common.
    struct Key: Hashable {
        var source: IPAddress
        var destination: IPAddress
        var identification: UInt32
        /// IPv4 tells datagrams of different protocols apart, IPv6 does not.
        var protocolNumber: UInt8
    }

    /// A datagram being put together, or just finished.
    struct Datagram {
        var key: Key
        /// What the fragment with offset 0 says the payload is.
        var protocolNumber: UInt8
        /// Payload bytes from offset 0; bytes of gaps are 0.
        var bytes: [UInt8] = []
        /// What of `bytes` is there: ascending, apart from each other.
        var present: [Range<Int>] = []
        /// The payload's length, once the last fragment has told it.
        var totalLength: Int?
        /// Its first and its latest packet.
        var first: PacketReference
        var last: PacketReference
        /// Bytes that were missing from captured fragments (snapshot length).
        var cutBytes = 0
        var isFinished = false
        /// Whether its first fragment was cut when it was captured, and has been read on its own.
        var isRead = false

        /// Whether nothing is missing.
        var isComplete: Bool {
            guard let totalLength else { return false }
            return present.count == 1 && present[0] == 0..<totalLength
        }

        /// The bytes from offset 0 to the first gap.
        var leadingLength: Int { present.first.map { $0.lowerBound == 0 ? $0.upperBound : 0 } ?? 0 }
        /// Bytes missing, as far as the length is known.
        var missingBytes: Int {
            max(totalLength ?? 0, present.last?.upperBound ?? 0) - present.reduce(0) { $0 + $1.count }
        }
    }

    /// What a fragment led to.
    enum Outcome {
        /// More fragments are needed.
        case waiting
        /// All bytes were there already.
        case repeated
        /// The datagram is complete.
        case complete(Datagram)
    }

    /// Longest payload that offsets of 13 bits can make up.
    private static let maximumLength = 65_535 + 8

    private let limits: NetworkLimits
    private var datagrams: [Key: Datagram] = [:]
    /// Keys in order of their datagrams' first fragment; finished and given-up ones are skipped.
    private var order: [Key] = []
    private var orderHead = 0
    private var finished: [Key] = []
    private var finishedHead = 0
    private(set) var storedBytes = 0
    private(set) var conflicts = 0

    init(limits: NetworkLimits) {
        self.limits = limits
    }

    /// Whether nothing is stored, so that time and limits need no look.
    var isEmpty: Bool { datagrams.isEmpty }

    /// Takes a fragment of `packet`.
    mutating func add(_ packet: IPHeader, fragment: IPHeader.Fragment, at reference: PacketReference) -> Outcome {
        let key = Key(
            source: packet.source, destination: packet.destination, identification: fragment.identification,
            protocolNumber: packet.source.isIPv4 ? packet.protocolNumber : 0)
        let end = fragment.offset + packet.payloadLength
        guard end <= Self.maximumLength, packet.payloadLength > 0 else { return .waiting }

        var datagram: Datagram
        if let known = datagrams.removeValue(forKey: key) {
            storedBytes -= known.bytes.count
            if known.isFinished {
                if Self.isRepeat(of: known, packet.payload, at: fragment.offset, end: end) {
                    store(known)
                    return .repeated
                }
                // The identification is used again by another datagram.
                datagram = Datagram(
                    key: key, protocolNumber: packet.protocolNumber, first: reference, last: reference)
                order.append(key)
            } else {
                datagram = known
            }
        } else {
            datagram = Datagram(key: key, protocolNumber: packet.protocolNumber, first: reference, last: reference)
            order.append(key)
        }

        if fragment.offset == 0 { datagram.protocolNumber = packet.protocolNumber }
        if !fragment.hasMore, datagram.totalLength == nil { datagram.totalLength = end }
        datagram.last = reference
        datagram.cutBytes += packet.payloadLength - packet.payload.count
        if fragment.offset == 0, packet.payload.count < packet.payloadLength { datagram.isRead = true }
        let isNew = datagram.insert(packet.payload, at: fragment.offset, conflicts: &conflicts)
        if datagram.isComplete {
            datagram.isFinished = true
            return .complete(datagram)
        }
        store(datagram)
        return isNew ? .waiting : .repeated
    }

    /// Keeps a finished datagram for a while, so that its fragments, captured again, are known.
    mutating func remember(_ datagram: Datagram) {
        guard datagrams[datagram.key] == nil else { return }
        store(datagram)
        finished.append(datagram.key)
        while finished.count - finishedHead > limits.rememberedDatagrams { forgetFinished() }
        if finishedHead > 1024 {
            finished.removeFirst(finishedHead)
            finishedHead = 0
        }
    }

    /// The next datagram to give up: timed out at `now`, or over a limit. Nil when none is.
    mutating func nextExpired(at now: Instant) -> Datagram? {
        while finishedHead < finished.count, storedBytes > limits.fragmentBytes { forgetFinished() }
        while orderHead < order.count {
            let key = order[orderHead]
            guard let datagram = datagrams[key], !datagram.isFinished else {
                advanceOrder()
                continue
            }
            let isLate = now.nanoseconds(since: datagram.first.time) > limits.fragmentTimeoutNanoseconds
            let isOver = storedBytes > limits.fragmentBytes || datagrams.count > limits.fragmentedDatagrams
            guard isLate || isOver else { return nil }
            advanceOrder()
            return remove(key)
        }
        return nil
    }

    /// The next incomplete datagram, for the capture's end.
    mutating func nextRemaining() -> Datagram? {
        while orderHead < order.count {
            let key = order[orderHead]
            advanceOrder()
            if let datagram = datagrams[key], !datagram.isFinished { return remove(key) }
        }
        return nil
    }

    private mutating func advanceOrder() {
        orderHead += 1
        if orderHead > 1024, orderHead * 2 > order.count {
            order.removeFirst(orderHead)
            orderHead = 0
        }
    }

    private mutating func forgetFinished() {
        let key = finished[finishedHead]
        finishedHead += 1
        if datagrams[key]?.isFinished == true { _ = remove(key) }
    }

    private mutating func remove(_ key: Key) -> Datagram? {
        guard let datagram = datagrams.removeValue(forKey: key) else { return nil }
        storedBytes -= datagram.bytes.count
        return datagram
    }

    private mutating func store(_ datagram: Datagram) {
        storedBytes += datagram.bytes.count
        datagrams[datagram.key] = datagram
    }

    private static func isRepeat(
        of datagram: Datagram, _ bytes: UnsafeRawBufferPointer, at offset: Int, end: Int
    ) -> Bool {
        guard end <= datagram.bytes.count else { return false }
        return datagram.bytes[offset..<(offset + bytes.count)].elementsEqual(bytes)
    }
}

extension FragmentTable.Datagram {
    /// Puts `new` at `offset`, keeping what is there. Returns whether any byte was missing before.
    mutating func insert(_ new: UnsafeRawBufferPointer, at offset: Int, conflicts: inout Int) -> Bool {
        let end = offset + new.count
        guard end > offset else { return false }
        if end > bytes.count { bytes.append(contentsOf: repeatElement(0, count: end - bytes.count)) }
        var isNew = false
        var conflict = false
        var position = offset
        func copy(_ range: Range<Int>, into bytes: inout [UInt8]) {
            for index in range { bytes[index] = new[index - offset] }
        }
        for range in present where range.upperBound > offset && range.lowerBound < end {
            if range.lowerBound > position {
                copy(position..<range.lowerBound, into: &bytes)
                isNew = true
            }
            let overlap = max(position, range.lowerBound)..<min(range.upperBound, end)
            for index in overlap where bytes[index] != new[index - offset] { conflict = true }
            position = min(range.upperBound, end)
        }
        if position < end {
            copy(position..<end, into: &bytes)
            isNew = true
        }
        if conflict { conflicts += 1 }
        guard isNew else { return false }

        var merged = offset..<end
        var others: [Range<Int>] = []
        for range in present {
            if range.upperBound < merged.lowerBound || range.lowerBound > merged.upperBound {
                others.append(range)
            } else {
                merged = min(range.lowerBound, merged.lowerBound)..<max(range.upperBound, merged.upperBound)
            }
        }
        let index = others.firstIndex { $0.lowerBound > merged.lowerBound } ?? others.count
        others.insert(merged, at: index)
        present = others
        return true
    }
}
