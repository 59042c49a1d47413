/// The display filter that shows exactly these packets in Wireshark: `frame.number in {12, 15..18}`.
public func wiresharkFilter(_ packets: [Int]) -> String {
    let runs = runs(of: packets).map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)..\($0.upperBound)" }
    return "frame.number in {\(runs.joined(separator: ", "))}"
}

/// Packet numbers joined into runs without gaps, in order; 0 (no file) is left out.
func runs(of packets: [Int]) -> [ClosedRange<Int>] {
    var runs: [ClosedRange<Int>] = []
    for packet in Set(packets.filter { $0 > 0 }).sorted() {
        if let last = runs.last, last.upperBound + 1 == packet {
            runs[runs.count - 1] = last.lowerBound...packet
        } else {
            runs.append(packet...packet)
        }
    }
    return runs
}
