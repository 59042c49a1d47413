internal import SessionTrace

/// The fields of one section while they are decoded, with a bound: a small header block can name a large table entry
/// many times over.
struct BoundedFields {
    /// What was kept.
    private(set) var section = FieldSection()
    /// Whether fields were dropped because a limit was reached.
    private(set) var isOverLimit = false

    private let byteLimit: Int
    private let countLimit: Int

    /// Bounds: bytes of names and values, and fields.
    init(byteLimit: Int, countLimit: Int) {
        self.byteLimit = byteLimit
        self.countLimit = countLimit
    }

    /// Appends a field, or notes that it did not fit.
    mutating func append(name: some Collection<UInt8>, value: some Collection<UInt8>, isKnown: Bool = true) {
        guard !isOverLimit else { return }
        guard section.fields.count < countLimit, section.storage.count + name.count + value.count <= byteLimit else {
            isOverLimit = true
            section.append(name: [], value: [], isKnown: false)
            return
        }
        section.append(name: name, value: value, isKnown: isKnown)
    }

    /// Appends a field of which nothing is known.
    mutating func appendUnknown() {
        append(name: [], value: [], isKnown: false)
    }
}
