/// One direction of DNS over TCP: messages behind two octets of length (RFC 1035 §4.2.2, RFC 7766 §8).
///
/// Enters: stream bytes in any pieces, and holes. Leaves: messages. At most one message (64 KiB) is held.
public struct DNSStream: Sendable {
    private enum State {
        case length(first: UInt8?)
        case message(left: Int, isDamaged: Bool)
        /// The boundaries are lost.
        case lost
    }

    private var state = State.length(first: nil)
    private var held: [UInt8] = []
    /// Bytes that belong to no message that could be read: damaged ones, and all after the boundaries were lost.
    public private(set) var unreadBytes = 0

    /// A stream from its first byte.
    public init() {}

    /// Takes bytes and appends the messages that they complete.
    public mutating func receive(_ bytes: UnsafeRawBufferPointer, into messages: inout [DNSMessage]) {
        var input = bytes
        while let octet = input.first {
            switch state {
            case .lost:
                unreadBytes += input.count
                return
            case .length(nil):
                state = .length(first: octet)
                input = UnsafeRawBufferPointer(rebasing: input.dropFirst())
            case .length(let first?):
                state = .message(left: Int(first) << 8 | Int(octet), isDamaged: false)
                held.removeAll(keepingCapacity: true)
                input = UnsafeRawBufferPointer(rebasing: input.dropFirst())
                completeIfDone(&messages)
            case .message(let left, let isDamaged):
                let count = min(left, input.count)
                if isDamaged {
                    unreadBytes += count
                } else {
                    held.append(contentsOf: input[..<count])
                }
                state = .message(left: left - count, isDamaged: isDamaged)
                input = UnsafeRawBufferPointer(rebasing: input[count...])
                completeIfDone(&messages)
            }
        }
    }

    /// Takes a hole of `length` bytes, or of unknown length; only one inside a message leaves the boundaries known.
    public mutating func hole(length: Int?) {
        guard case .message(let left, _) = state, let length, length >= 0, length <= left else {
            unreadBytes += held.count
            held = []
            state = .lost
            return
        }
        unreadBytes += held.count
        held = []
        state = length == left ? .length(first: nil) : .message(left: left - length, isDamaged: true)
    }

    private mutating func completeIfDone(_ messages: inout [DNSMessage]) {
        guard case .message(0, let isDamaged) = state else { return }
        state = .length(first: nil)
        if !isDamaged, let message = held.withUnsafeBytes({ DNSMessage.parse($0) }) {
            messages.append(message)
        } else {
            unreadBytes += held.count
        }
        held.removeAll(keepingCapacity: true)
    }
}
