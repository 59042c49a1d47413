internal import SessionTrace

/// The header decoder of one direction: exact as long as every byte was seen, tolerant from the first loss on.
///
/// ```
/// exact ──hole, broken block, block over the limit──► tolerant (table unknown)
/// ```
struct HeaderDecoder {
    /// What one header block gave.
    struct Section {
        var fields: FieldSection
        /// What was wrong with the block, in words.
        var complaint: String?
    }

    /// nghttp2's inflater while every byte was seen; nil from the first loss on.
    private var exact: HeaderInflater?
    private var tolerant: TolerantHeaderDecoder
    private let byteLimit: Int
    private let countLimit: Int

    /// A decoder for a direction that was seen from its first byte, or not; limits are of one decoded field section.
    init(startSeen: Bool, byteLimit: Int, countLimit: Int) {
        self.byteLimit = byteLimit
        self.countLimit = countLimit
        exact = startSeen ? HeaderInflater() : nil
        tolerant = TolerantHeaderDecoder(startSeen: startSeen)
    }

    /// Whether the table is known to hold exactly what the sender's holds.
    var isExact: Bool { exact != nil }

    /// The connection starts here after all: an empty table.
    mutating func restart() {
        self = HeaderDecoder(startSeen: true, byteLimit: byteLimit, countLimit: countLimit)
    }

    /// Some header block was lost: what the table holds is unknown from here on.
    mutating func forget() {
        exact = nil
        tolerant.forget()
    }

    /// Decodes a header block; `isCut` says that its end is missing.
    mutating func decode(_ block: UnsafeRawBufferPointer, isCut: Bool = false) -> Section {
        var fields = BoundedFields(byteLimit: byteLimit, countLimit: countLimit)
        var complaint: String?
        if let exact {
            if !exact.decode(block, isCut: isCut, into: &fields) {
                fields.appendUnknown()
                if !isCut { complaint = "header block can't be decoded (HPACK)" }
                forget()
            }
        } else if case .broken(let text) = tolerant.decode(block, isCut: isCut, into: &fields), !isCut {
            complaint = text
        }
        if fields.isOverLimit {
            complaint =
                complaint ?? "header section over \(byteLimit) bytes or \(countLimit) fields; the rest was not kept"
        }
        return Section(fields: fields.section, complaint: complaint)
    }
}
