internal import SessionTrace
internal import WireFormats

/// Gathers a device's ClientHello, which may be spread over any number of segments and records (a post-quantum key share
/// alone fills one segment). Bytes in, the hello out; every byte taken stays in `bytes`, since it goes on to the TLS
/// engine, or upstream as it is.
///
/// ```
/// gathering ──whole ClientHello──▶ hello
///     │
///     └──another record or message first · malformed · longer than the limit──▶ unreadable
/// ```
struct ClientHelloGatherer {
    /// Most bytes that are gathered.
    static let byteLimit = 64 << 10
    /// Longest wait for the rest of a hello that has begun.
    static let timeLimit: Duration = .seconds(10)

    /// Why bytes that began like TLS are relayed as they are.
    enum Unreadable: String, Hashable, Sendable {
        case notTLS = "the bytes are no TLS handshake"
        case malformed = "the ClientHello can't be read"
        case tooLong = "the ClientHello is longer than 64 KiB"
        case tooSlow = "the ClientHello did not come within 10 s"
        case tooOld = "the client offers nothing newer than SSL 3.0"
        case unfinished = "the client closed inside its ClientHello"
    }

    /// How far it is.
    enum Progress: Hashable, Sendable {
        case needsInput
        case hello(ClientHelloMessage)
        case unreadable(Unreadable)
    }

    /// Everything taken so far.
    private(set) var bytes: [UInt8] = []
    private(set) var progress = Progress.needsInput
    private var records = TLSRecordReader()
    private var messages = HandshakeReader()

    /// A gatherer before the first byte.
    init() {}

    /// Takes the bytes that came next. Once it is settled (`hello` or `unreadable`) further bytes are only kept.
    @discardableResult mutating func take(_ piece: UnsafeRawBufferPointer) -> Progress {
        bytes.append(contentsOf: piece)
        guard case .needsInput = progress else { return progress }
        var rest = piece
        progress = read(&rest)
        switch progress {
        case .unreadable: break
        // Bytes behind the hello (early data) don't count.
        case .needsInput, .hello: if bytes.count - rest.count > Self.byteLimit { progress = .unreadable(.tooLong) }
        }
        return progress
    }

    /// Ends the gathering: the rest does not come.
    mutating func giveUp(_ reason: Unreadable) {
        if case .needsInput = progress { progress = .unreadable(reason) }
    }

    private mutating func read(_ input: inout UnsafeRawBufferPointer) -> Progress {
        while true {
            switch records.next(&input) {
            case .needsInput:
                return announced.map { .unreadable($0) } ?? .needsInput
            case .lostFraming, .resynchronised:
                return .unreadable(.notTLS)
            case .record(let record):
                guard record.header.type == .handshake else { return .unreadable(.notTLS) }
                var payload = record.payload
                if let message = messages.next(&payload) { return Self.judge(message) }
                if let refusal = announced { return .unreadable(refusal) }
            }
        }
    }

    /// What the header of a message that has only begun says already.
    private var announced: Unreadable? {
        messages.withUnfinished { type, _ in type == HandshakeType.clientHello ? nil : .notTLS } ?? nil
    }

    private static func judge(_ message: HandshakeMessage) -> Progress {
        guard message.type == HandshakeType.clientHello else { return .unreadable(.notTLS) }
        guard let hello = ClientHelloMessage(message.body) else { return .unreadable(.malformed) }
        guard hello.highestVersion >= 0x0301 else { return .unreadable(.tooOld) }
        return .hello(hello)
    }
}
