public import SessionTrace

/// What tells one device under test from another (DESIGN "Devices"): each has its own trace file and verdict.
public enum DeviceKey: Hashable, Sendable {
    /// A name that a person or a proxy credential gave it.
    case named(String)
    /// The address of its network card: six bytes in the lower 48 bits, as the neighbour table has it.
    case hardware(UInt64)
    /// The address that it calls from.
    case address(IPAddress)
}

extension DeviceKey: CustomStringConvertible {
    /// `pixel-7`, `02:00:5e:10:00:01` or `192.0.2.10`.
    public var description: String {
        switch self {
        case .named(let name): return name
        case .hardware(let bits):
            return (0..<6).map { index in
                let byte = UInt8(truncatingIfNeeded: bits >> UInt64(40 - 8 * index))
                return (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }.joined(separator: ":")
        case .address(let address): return address.description
        }
    }
}
