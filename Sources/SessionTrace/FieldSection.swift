/// The header (or trailer) fields of one message, in the order and with the bytes that were on the wire.
///
/// All text lies in one buffer, so that a message with twenty fields costs two allocations and a scanner can walk it.
public struct FieldSection: Hashable, Sendable {
    /// One field's place in the buffer.
    public struct Field: Hashable, Sendable {
        /// Offset of the name in `storage`.
        public var nameStart: Int32
        /// Length of the name in bytes.
        public var nameLength: Int32
        /// Offset of the value in `storage`.
        public var valueStart: Int32
        /// Length of the value in bytes.
        public var valueLength: Int32
        /// False when the field refers to a header table entry that was never seen (RFC 7541; CASES row 53):
        /// name and value are then empty or partial, and mean "unknown", never "absent".
        public var isKnown: Bool
    }

    /// Names and values back to back. HTTP/2 pseudo-header fields are included, with their colon.
    public private(set) var storage: [UInt8]
    /// The fields in wire order.
    public private(set) var fields: [Field]

    /// An empty section.
    public init() {
        storage = []
        fields = []
    }

    /// Appends a field; a value whose table entry is unknown is appended with `isKnown: false`.
    public mutating func append(
        name: some Collection<UInt8>, value: some Collection<UInt8>, isKnown: Bool = true
    ) {
        let nameStart = storage.count
        storage.append(contentsOf: name)
        let valueStart = storage.count
        storage.append(contentsOf: value)
        fields.append(
            Field(
                nameStart: Int32(nameStart), nameLength: Int32(valueStart - nameStart), valueStart: Int32(valueStart),
                valueLength: Int32(storage.count - valueStart), isKnown: isKnown))
    }

    /// Appends a field from borrowed memory: the way of parsers, which copy each field once.
    public mutating func append(name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
        let nameStart = storage.count
        storage.append(contentsOf: name)
        storage.append(contentsOf: value)
        fields.append(
            Field(
                nameStart: Int32(nameStart), nameLength: Int32(name.count),
                valueStart: Int32(nameStart + name.count), valueLength: Int32(value.count), isKnown: true))
    }

    /// Makes room for `fields` more fields with `bytes` of names and values together.
    public mutating func reserveCapacity(fields count: Int, bytes: Int) {
        storage.reserveCapacity(storage.count + bytes)
        fields.reserveCapacity(fields.count + count)
    }

    /// Appends a field given as text.
    public mutating func append(_ name: String, _ value: String) {
        append(name: name.utf8, value: value.utf8)
    }

    /// The name's bytes as sent.
    public func nameBytes(_ field: Field) -> ArraySlice<UInt8> {
        storage[Int(field.nameStart)..<Int(field.nameStart + field.nameLength)]
    }

    /// The value's bytes as sent, without the optional white space around it (RFC 9112 §5.1).
    public func valueBytes(_ field: Field) -> ArraySlice<UInt8> {
        storage[Int(field.valueStart)..<Int(field.valueStart + field.valueLength)]
    }

    /// The name as text (bytes that are not UTF-8 are replaced).
    public func name(_ field: Field) -> String { String(decoding: nameBytes(field), as: UTF8.self) }

    /// The value as text (bytes that are not UTF-8 are replaced).
    public func value(_ field: Field) -> String { String(decoding: valueBytes(field), as: UTF8.self) }

    /// All values of the fields called `name` (any case), in order; fields that are not known are left out.
    public func values(_ name: String) -> [String] {
        fields.filter { $0.isKnown && hasName($0, name) }.map(value)
    }

    /// The first value of the field called `name` (any case), if the field is there and known.
    public func first(_ name: String) -> String? {
        fields.first { $0.isKnown && hasName($0, name) }.map(value)
    }

    /// Whether a field has this name, compared without regard to ASCII case.
    public func hasName(_ field: Field, _ name: String) -> Bool {
        guard Int(field.nameLength) == name.utf8.count else { return false }
        return zip(nameBytes(field), name.utf8).allSatisfy { Self.lower($0) == Self.lower($1) }
    }

    /// Whether some field could not be read because its header table entry was never seen.
    public var hasUnknownFields: Bool { fields.contains { !$0.isKnown } }

    private static func lower(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte | 0x20 : byte }
}
