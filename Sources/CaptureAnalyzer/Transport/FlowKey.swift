internal import SessionTrace

/// The two ends of a flow and its transport, the same for both directions; interfaces, VLANs and tunnels are left out, so
/// that a packet captured in two places is the same packet.
struct FlowKey: Hashable {
    let lowAddressHigh: UInt64
    let lowAddressLow: UInt64
    let highAddressHigh: UInt64
    let highAddressLow: UInt64
    /// The ports (lower end's first), the transport and the IP version.
    let tail: UInt64

    /// Makes the key of a unit, and tells whether its source is the lower of the two ends.
    @inline(__always)
    static func of(_ unit: borrowing TransportUnit) -> (key: FlowKey, sourceIsLower: Bool) {
        let source = unit.source
        let destination = unit.destination
        let kind: UInt64 = (unit.segment == nil ? 2 : 0) | (source.address.isIPv4 ? 1 : 0)
        let sourceIsLower = isOrdered(source, destination)
        let low = sourceIsLower ? source : destination
        let high = sourceIsLower ? destination : source
        let key = FlowKey(
            lowAddressHigh: low.address.high, lowAddressLow: low.address.low, highAddressHigh: high.address.high,
            highAddressLow: high.address.low, tail: UInt64(low.port) << 32 | UInt64(high.port) << 16 | kind)
        return (key, sourceIsLower)
    }

    @inline(__always)
    private static func isOrdered(_ one: Endpoint, _ other: Endpoint) -> Bool {
        if one.address.high != other.address.high { return one.address.high < other.address.high }
        if one.address.low != other.address.low { return one.address.low < other.address.low }
        return one.port <= other.port
    }

    /// A hash for `FlowIndex`; `seed` differs a run, so that no capture can be made to collide.
    @inline(__always)
    func hash(seed: UInt64) -> UInt32 {
        var state = Self.mix(seed, lowAddressLow)
        state = Self.mix(state, highAddressLow)
        state = Self.mix(state, tail)
        if tail & 1 == 0 {
            state = Self.mix(state, lowAddressHigh)
            state = Self.mix(state, highAddressHigh)
        }
        return UInt32(truncatingIfNeeded: state ^ state >> 32)
    }

    @inline(__always)
    private static func mix(_ state: UInt64, _ word: UInt64) -> UInt64 {
        let product = (state ^ word).multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
        return product.high ^ product.low
    }
}
