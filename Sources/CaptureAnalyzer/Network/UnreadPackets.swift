internal import SessionTrace

/// Packets that could not be read, gathered by kind: one blind spot a kind, however many packets.
struct UnreadPackets {
    /// Why a packet could not be read.
    enum Kind: Hashable {
        case linkType(UInt32)
        case encryptedOnAir
        case cutShort
    }

    private struct Tally {
        var packets: Int
        var bytes: Int
        var span: TimeSpan
        var first: PacketReference
    }

    /// Different link types are few; a file that invents one for each packet is gathered under the first ones.
    private static let maximumKinds = 64
    private var tallies: [Kind: Tally] = [:]

    /// Counts a packet.
    mutating func add(_ kind: Kind, at reference: PacketReference, bytes: Int?) {
        if var tally = tallies[kind] {
            tally.packets += 1
            tally.bytes += bytes ?? 0
            tally.span = TimeSpan(
                min(tally.span.earliest, reference.time), max(tally.span.latest, reference.time))
            tallies[kind] = tally
        } else if tallies.count < Self.maximumKinds {
            tallies[kind] = Tally(packets: 1, bytes: bytes ?? 0, span: TimeSpan(reference.time), first: reference)
        }
    }

    /// One blind spot a kind, in the order of their first packets.
    var spots: [BlindSpot] {
        tallies.sorted { $0.value.first.number < $1.value.first.number }.map { kind, tally in
            let (reason, words): (BlindSpot.Reason, String) =
                switch kind {
                case .linkType(let number): (.unreadablePackets, "of link type \(number), which is not read")
                case .encryptedOnAir: (.unreadablePackets, "encrypted on the air (802.11)")
                case .cutShort: (.truncatedPacket, "captured too short to hold their headers")
                }
            return BlindSpot(
                reason: reason, span: tally.span, bytes: tally.bytes > 0 ? tally.bytes : nil, noticed: tally.first,
                detail: "\(tally.packets) \(tally.packets == 1 ? "packet" : "packets") \(words)")
        }
    }
}
