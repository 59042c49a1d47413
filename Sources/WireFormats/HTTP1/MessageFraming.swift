package import SessionTrace

/// How the end of a message's content is found (RFC 9112 §6.3).
package enum BodyFraming: Equatable {
    case none
    case length(Int)
    case chunked
    case untilClose
}

/// What the fields of a head say about framing, connection and upgrade; gathered while they are read.
package struct FramingFields {
    /// What the Content-Length fields say together.
    package enum Length: Equatable {
        case absent
        case one(Int)
        /// Given more than once, always the same.
        case repeated(Int)
        /// Given more than once, with different values; the first is kept.
        case conflicting(Int)
        case invalid
    }

    /// What the Transfer-Encoding fields say together.
    package enum Transfer: Equatable {
        case absent
        /// `chunked` is the last coding, and applied once.
        case chunked
        /// Something else is last, or `chunked` is there twice.
        case other
    }

    package private(set) var length = Length.absent
    package private(set) var transfer = Transfer.absent
    package private(set) var host: String?
    package private(set) var hostCount = 0
    package private(set) var hasUpgrade = false

    /// Of a head without fields.
    package init() {}

    /// Takes notice of a field.
    package mutating func note(name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
        switch name.count {
        case 4 where ByteSearch.equalsIgnoringCase(name, "host"):
            hostCount &+= 1
            if host == nil { host = value.text }
        case 7 where ByteSearch.equalsIgnoringCase(name, "upgrade"):
            hasUpgrade = true
        case 14 where ByteSearch.equalsIgnoringCase(name, "content-length"):
            noteLength(value)
        case 17 where ByteSearch.equalsIgnoringCase(name, "transfer-encoding"):
            noteTransfer(value)
        default:
            break
        }
    }

    private mutating func noteLength(_ value: UnsafeRawBufferPointer) {
        var start = 0
        while start <= value.count {
            let end = ByteSearch.first(0x2C, in: value, from: start) ?? value.count
            let number = Self.decimal(value.slice(start..<end).trimmed)
            start = end &+ 1
            length =
                switch (length, number) {
                case (.invalid, _), (_, nil): .invalid
                case (.absent, let number?): .one(number)
                case (.one(let first), let number?), (.repeated(let first), let number?):
                    first == number ? .repeated(first) : .conflicting(first)
                case (.conflicting(let first), _?): .conflicting(first)
                }
        }
    }

    private mutating func noteTransfer(_ value: UnsafeRawBufferPointer) {
        var start = 0
        while start <= value.count {
            let end = ByteSearch.first(0x2C, in: value, from: start) ?? value.count
            let token = value.slice(start..<end).trimmed
            start = end &+ 1
            guard !token.isEmpty else { continue }
            let isChunked = ByteSearch.equalsIgnoringCase(token, "chunked")
            transfer = isChunked && transfer != .chunked ? .chunked : .other
        }
        if transfer == .absent { transfer = .other }
    }

    /// 1*DIGIT that fits; nil otherwise.
    private static func decimal(_ digits: UnsafeRawBufferPointer) -> Int? {
        guard !digits.isEmpty else { return nil }
        var value = 0
        for byte in digits {
            let (scaled, overflow) = value.multipliedReportingOverflow(by: 10)
            let (sum, carry) = scaled.addingReportingOverflow(Int(byte &- 0x30))
            guard byte &- 0x30 < 10, !overflow, !carry else { return nil }
            value = sum
        }
        return value
    }

    /// The reading to go on with, and why it is not the only one.
    ///
    /// RFC 9112 §6.1: Transfer-Encoding overrides Content-Length. §6.3: a response whose last coding is not `chunked` runs
    /// until close; a request like that, or one with unusable lengths, has no end that can be known, and a server closes:
    /// the rest of the stream is then taken as its body.
    package func framing(of side: Side, version: HTTPVersion) -> (framing: BodyFraming, ambiguity: String?) {
        switch (transfer, length) {
        case (.absent, .absent):
            return (side == .client ? .none : .untilClose, nil)
        case (.absent, .one(let count)):
            return (.length(count), nil)
        case (.absent, .repeated(let count)):
            return (.length(count), "Content-Length given more than once, always \(count)")
        case (.absent, .conflicting(let first)):
            return (.length(first), "different Content-Lengths; the first, \(first), was used")
        case (.absent, .invalid):
            return (.untilClose, "Content-Length is no number")
        case (.chunked, .absent):
            return (.chunked, version == .http10 ? "Transfer-Encoding in an HTTP/1.0 message" : nil)
        case (.chunked, _):
            return (.chunked, "Content-Length and Transfer-Encoding; chunked was used")
        case (.other, .absent):
            let reading = "Transfer-Encoding does not end in chunked; read until close"
            return (.untilClose, side == .client ? reading : nil)
        case (.other, _):
            return (
                .untilClose, "Content-Length and a Transfer-Encoding that does not end in chunked; read until close"
            )
        }
    }
}
