/// How a script's text is cut into the pieces that a machine is fed: all of them must give the same.
enum TextSplit: Sendable {
    case whole, bytes
    case random(SeededGenerator)

    /// The pieces of `text`, in order.
    func pieces(of text: String, using generator: inout SeededGenerator) -> [[UInt8]] {
        let bytes = Array(text.utf8)
        switch self {
        case .whole: return [bytes]
        case .bytes: return bytes.map { [$0] }
        case .random:
            var pieces: [[UInt8]] = []
            var at = 0
            while at < bytes.count {
                let count = min(bytes.count - at, Int.random(in: 1...24, using: &generator))
                pieces.append(Array(bytes[at..<at + count]))
                at += count
            }
            return pieces
        }
    }
}
