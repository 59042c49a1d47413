internal import SessionTrace

/// An HPACK decoder for streams whose start, or some middle part, was not seen (RFC 7541; CASES row 53).
///
/// What it relies on: an index counts from the *newest* insertion, and eviction only takes the oldest. So the entry
/// that an index names is certain as long as it was inserted after the part that is missing; whatever the table held
/// before, and however large it was, can only make an older index *invalid*, never make it name another entry.
/// Every index beyond the insertions that were seen names an entry from before: it is **unknown**, never guessed.
///
/// Sizes are honest: an entry with an unknown name or value has a least size only, so what it evicts is uncertain.
/// `capacity` is nil until a size update (§6.3) tells it; then entries that cannot be there any more are dropped, and
/// once the seen ones fill the table nothing unknown is left behind them.
struct TolerantHeaderDecoder {
    /// How a block ended.
    enum Outcome: Hashable {
        /// Read to its end.
        case whole
        /// Broken or cut: the rest of it could not be read, and the table is unknown from here on.
        case broken(String)
    }

    /// Bytes of table entries kept (RFC 7541 §4.1 sizes); an encoder that was told a larger table has older ones forgotten.
    static let largestTable = 1 << 20
    /// Size of the table at a connection's start, until a size update changes it (RFC 9113 §6.5.2).
    static let initialCapacity = 4_096

    private struct Entry {
        var name: [UInt8]
        var value: [UInt8]
        var isNameKnown: Bool
        var isKnown: Bool

        /// RFC 7541 §4.1; the least it can be when a part is unknown.
        var size: Int { name.count + value.count + 32 }
    }

    /// Newest last; the index 62 is the last one.
    private var entries: [Entry] = []
    /// How many of the oldest in `entries` were evicted (the array is trimmed from time to time).
    private var evicted = 0
    private var size = 0
    private var capacity: Int?
    private var mayHoldUnknown: Bool

    /// A decoder for a connection whose start was seen (an empty table of 4,096 bytes), or was not (nothing is known).
    init(startSeen: Bool) {
        capacity = startSeen ? Self.initialCapacity : nil
        mayHoldUnknown = !startSeen
    }

    /// Forgets the table: some part of the stream is missing, and anything may have been inserted there.
    mutating func forget() {
        entries.removeAll(keepingCapacity: true)
        evicted = 0
        size = 0
        capacity = nil
        mayHoldUnknown = true
    }

    /// Decodes one header block into `fields`; `isCut` says that its end is missing.
    ///
    /// A field that cannot be known is appended with `isKnown: false` and the part of it that is known. A broken or cut
    /// block ends with one such field without name and value, which stands for the rest.
    mutating func decode(
        _ block: UnsafeRawBufferPointer, isCut: Bool = false, into fields: inout BoundedFields
    ) -> Outcome {
        var reader = HPACKReader(block)
        var complaint: String?
        while let octet = reader.octet {
            let start = reader.offset
            let step: Step
            if octet & 0x80 != 0 {
                step = indexed(&reader, into: &fields)
            } else if octet & 0xE0 == 0x20 {
                step = resize(&reader)
            } else {
                step = literal(&reader, isInserted: octet & 0xC0 == 0x40, into: &fields)
            }
            switch step {
            case .read: continue
            case .odd(let text): complaint = complaint ?? text
            case .unreadable:
                forget()
                fields.appendUnknown()
                return .broken(
                    isCut ? "header block cut short" : "header block unreadable at byte \(start) of \(block.count)")
            }
        }
        if isCut {
            forget()
            fields.appendUnknown()
            return .broken("header block cut short")
        }
        if let complaint { return .broken(complaint) }
        return .whole
    }

    private enum Step {
        case read
        /// Read, but against the rules.
        case odd(String)
        /// Where the next field starts is lost.
        case unreadable
    }

    private enum Lookup {
        case found(Entry)
        case unknown
        case invalid
    }

    private mutating func indexed(_ reader: inout HPACKReader, into fields: inout BoundedFields) -> Step {
        guard let index = reader.integer(prefix: 7) else { return .unreadable }
        switch lookup(index) {
        case .found(let entry):
            fields.append(name: entry.name, value: entry.value, isKnown: entry.isKnown)
            return .read
        case .unknown:
            fields.appendUnknown()
            return .read
        case .invalid:
            fields.appendUnknown()
            return .odd("index \(index) is outside the header table")
        }
    }

    private mutating func literal(
        _ reader: inout HPACKReader, isInserted: Bool, into fields: inout BoundedFields
    ) -> Step {
        guard let index = reader.integer(prefix: isInserted ? 6 : 4) else { return .unreadable }
        var oddity: String?
        var name: [UInt8]?
        if index == 0 {
            guard let literal = reader.literal() else { return .unreadable }
            name = literal.bytes
            if name == nil { oddity = "Huffman coding of a field name is broken" }
        } else {
            switch lookup(index) {
            case .found(let entry): name = entry.isNameKnown ? entry.name : nil
            case .unknown: break
            case .invalid: oddity = "index \(index) is outside the header table"
            }
        }
        guard let value = reader.literal() else { return .unreadable }
        if value.bytes == nil { oddity = oddity ?? "Huffman coding of a field value is broken" }
        let entry = Entry(
            name: name ?? [], value: value.bytes ?? [], isNameKnown: name != nil,
            isKnown: name != nil && value.bytes != nil)
        fields.append(name: entry.name, value: entry.value, isKnown: entry.isKnown)
        if isInserted { insert(entry) }
        return oddity.map { .odd($0) } ?? .read
    }

    private mutating func resize(_ reader: inout HPACKReader) -> Step {
        guard let newCapacity = reader.integer(prefix: 5) else { return .unreadable }
        capacity = newCapacity
        evict()
        return .read
    }

    private func lookup(_ index: Int) -> Lookup {
        guard index > 0 else { return .invalid }
        let staticCount = StaticHeaderTable.entries.count
        if index <= staticCount {
            let entry = StaticHeaderTable.entries[index - 1]
            return .found(Entry(name: entry.name, value: entry.value, isNameKnown: true, isKnown: true))
        }
        let age = index - staticCount - 1
        if age < entries.count - evicted { return .found(entries[entries.count - 1 - age]) }
        return mayHoldUnknown ? .unknown : .invalid
    }

    private mutating func insert(_ entry: Entry) {
        entries.append(entry)
        size += entry.size
        evict()
    }

    /// Drops what is certainly evicted: `size` is a least size, so what it exceeds is exceeded in truth too.
    private mutating func evict() {
        let limit = min(capacity ?? Self.largestTable, Self.largestTable)
        while size > limit, evicted < entries.count {
            size -= entries[evicted].size
            entries[evicted] = Entry(name: [], value: [], isNameKnown: false, isKnown: false)
            evicted += 1
            if capacity == nil || limit == Self.largestTable { mayHoldUnknown = true }
        }
        // The smallest entry is 32 bytes: when not even that fits behind the known ones, nothing unknown is left.
        if let capacity, capacity < Self.largestTable, size + 32 > capacity { mayHoldUnknown = false }
        if evicted > 64, evicted * 2 > entries.count {
            entries.removeFirst(evicted)
            evicted = 0
        }
    }
}
