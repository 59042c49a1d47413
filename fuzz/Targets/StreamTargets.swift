@testable import CaptureAnalyzer
@testable import SessionTrace
@testable import WireFormats

/// TLS with keys: a 2-byte length and a key log, then a conversation.
@Sendable func fuzzTLS(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count > 3 else { return }
    let length = Int(bytes[0]) | Int(bytes[1]) << 8
    let isLate = bytes[2] & 1 != 0
    let log = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(3).prefix(length))
    let whole = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(3 + log.count))
    func run(piece: Int) -> PlainRecords {
        var context = DecryptionContext()
        if !isLate { context.keys.add(nss: log) }
        var script = StreamScript(whole)
        var decoder = TLSConnectionDecoder(connection: ConnectionID(1), startSeen: bytes[2] & 2 == 0)
        var records = PlainRecords()
        var last = PacketReference(number: 0, time: .distantPast)
        while let (step, side, packet) = script.next() {
            last = packet
            switch step {
            case .bytes(let part):
                for piece in pieces(part, of: piece) {
                    decoder.receive(piece, from: side, at: packet, context: &context, into: &records)
                }
            case .hole(let length):
                decoder.hole(length: length, from: side, at: packet, context: &context, into: &records)
            case .end: if isLate { context.keys.add(nss: log) }
            }
        }
        decoder.finish(at: last, context: &context, into: &records)
        check(context.heldBytes == 0, "\(context.heldBytes) bytes are still held")
        return records
    }
    let records = run(piece: .max)
    if whole.count <= 4_096 {
        let split = run(piece: 1)
        check(split.client == records.client && split.server == records.server, "splits change the plaintext")
        check(split.events == records.events, "splits change the events:\n\(split.events)\n\(records.events)")
    }
}

/// What a TLS decoder gave.
struct PlainRecords: TLSSink {
    var events: [SessionEvent] = []
    var client: [UInt8] = []
    var server: [UInt8] = []

    mutating func secureEvent(_ event: SessionEvent) { events.append(event) }
    mutating func serverHello(at packet: PacketReference) {}
    mutating func applicationProtocol(_ name: String?, at packet: PacketReference) {}
    mutating func plaintext(_ bytes: UnsafeRawBufferPointer, from side: Side, at packet: PacketReference) {
        if side == .client { client += bytes } else { server += bytes }
    }
    mutating func plaintextHole(length: Int?, from side: Side, at packet: PacketReference) {
        check(length.map { $0 >= 0 } ?? true, "a hole of less than nothing")
        if side == .client { client += [0xFF, 0xFE] } else { server += [0xFF, 0xFE] }
    }
    mutating func plaintextFinished(from side: Side, at packet: PacketReference) {}
}

/// `bytes` cut into pieces of `length`.
func pieces(_ bytes: UnsafeRawBufferPointer, of length: Int) -> [UnsafeRawBufferPointer] {
    guard length < bytes.count else { return [bytes] }
    return stride(from: 0, to: bytes.count, by: length).map {
        UnsafeRawBufferPointer(rebasing: bytes[$0..<min($0 + length, bytes.count)])
    }
}

/// Datagrams: the steps of a script.
@Sendable func fuzzQUIC(_ bytes: UnsafeRawBufferPointer) {
    var script = StreamScript(bytes)
    var observer = QUICConnectionObserver(connection: ConnectionID(1))
    var output: [QUICOutput] = []
    var last = PacketReference(number: 0, time: .distantPast)
    while let (step, side, packet) = script.next() {
        last = packet
        guard case .bytes(let datagram) = step else { continue }
        _ = QUICConnectionObserver.recognises(datagram)
        observer.receive(datagram, from: side, at: packet, into: &output)
    }
    observer.finish(at: last, into: &output)
}

/// A connection's plaintext: any split gives the same events.
@Sendable func fuzzConversation(_ bytes: UnsafeRawBufferPointer) {
    guard let flags = bytes.first else { return }
    let script = UnsafeRawBufferPointer(rebasing: bytes.dropFirst())
    observe(script, isHTTP2: flags & 1 != 0, startSeen: flags & 2 == 0)
}

/// The same for HTTP/2 alone, so that the fuzzer stays in it.
@Sendable func fuzzHTTP2(_ bytes: UnsafeRawBufferPointer) {
    guard let flags = bytes.first else { return }
    let script = UnsafeRawBufferPointer(rebasing: bytes.dropFirst())
    observe(script, isHTTP2: true, startSeen: flags & 2 == 0)
}

private func observe(_ bytes: UnsafeRawBufferPointer, isHTTP2: Bool, startSeen: Bool) {
    func run(piece: Int) -> [ConversationOutput] {
        var script = StreamScript(bytes)
        var observer = ConversationObserver(
            connection: ConnectionID(1), isSecure: isHTTP2, applicationProtocol: isHTTP2 ? "h2" : nil, serverName: nil,
            startSeen: startSeen)
        var output: [ConversationOutput] = []
        var last = PacketReference(number: 0, time: .distantPast)
        while let (step, side, packet) = script.next() {
            last = packet
            switch step {
            case .bytes(let part):
                for piece in pieces(part, of: piece) {
                    observer.receive(piece, from: side, at: packet, into: &output)
                }
            case .hole(let length): observer.hole(length: length, from: side, at: packet, into: &output)
            case .end: observer.finished(side: side, at: packet, into: &output)
            }
        }
        observer.closed(cause: .traceEnded, at: last, into: &output)
        return output
    }
    let whole = run(piece: .max)
    var order = EventOrder()
    order.take(
        .connectionOpened(
            Connection(
                id: ConnectionID(1), transport: .tcp, client: anyone, server: anyone,
                opened: PacketReference(number: 0, time: .distantPast), startSeen: startSeen)))
    for case .event(let event) in whole { order.take(event) }
    if bytes.count <= 4_096 {
        let split = run(piece: 1)
        check(joined(split) == joined(whole), "splits change the events:\n\(joined(split))\n\(joined(whole))")
    }
}

private let anyone = Endpoint(address: IPAddress(ipv4: 0x7F00_0001), port: 1)

/// Outputs with the pieces inside a tunnel joined.
private func joined(_ output: [ConversationOutput]) -> [ConversationOutput] {
    output.reduce(into: []) { joined, next in
        if case .tunnelled(let more, let side, let packet) = next,
            case .tunnelled(let bytes, side, packet) = joined.last
        {
            joined[joined.count - 1] = .tunnelled(bytes + more, side, packet)
        } else {
            joined.append(next)
        }
    }
}

/// Header blocks, `[length, 2 bytes][block]…`: the tolerant decoder says what nghttp2's says, as long as that accepts.
@Sendable func fuzzHPACK(_ bytes: UnsafeRawBufferPointer) {
    guard let exact = HeaderInflater() else { return }
    var tolerant = TolerantHeaderDecoder(startSeen: true)
    var joined = TolerantHeaderDecoder(startSeen: false)
    var isExact = true
    var rest = bytes
    while rest.count >= 2 {
        let length = Int(rest[0]) | Int(rest[1]) << 8
        let block = UnsafeRawBufferPointer(rebasing: rest.dropFirst(2).prefix(length))
        rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(2 + block.count))
        var fields = BoundedFields(byteLimit: 1 << 20, countLimit: 4_096)
        let outcome = tolerant.decode(block, into: &fields)
        var late = BoundedFields(byteLimit: 1 << 20, countLimit: 4_096)
        _ = joined.decode(block, into: &late)
        guard isExact else { continue }
        var reference = BoundedFields(byteLimit: 1 << 20, countLimit: 4_096)
        isExact = exact.decode(block, isCut: false, into: &reference)
        guard isExact else { continue }
        check(outcome == .whole, "nghttp2 accepts what is \(outcome)")
        check(fields.section == reference.section, "\(fields.section) is not \(reference.section)")
        // Joined in the middle, a field is the same or unknown.
        for (one, other) in zip(late.section.fields, reference.section.fields) where one.isKnown {
            check(
                late.section.nameBytes(one) == reference.section.nameBytes(other)
                    && late.section.valueBytes(one) == reference.section.valueBytes(other),
                "guessed \(late.section.name(one)) for \(reference.section.name(other))")
        }
    }
}

/// Frames of both sides, with and without compression.
@Sendable func fuzzWebSocket(_ bytes: UnsafeRawBufferPointer) {
    guard let flags = bytes.first else { return }
    let offers = [
        [], ["permessage-deflate"], ["permessage-deflate; client_no_context_takeover"],
        ["permessage-deflate; server_no_context_takeover; client_max_window_bits=9"],
    ]
    func run(piece: Int) -> [ConversationOutput] {
        var script = StreamScript(UnsafeRawBufferPointer(rebasing: bytes.dropFirst()))
        var observer = WebSocketObserver(
            exchange: ExchangeID(connection: ConnectionID(1), index: 0), extensions: offers[Int(flags & 3)],
            limits: ConversationLimits())
        var output: [ConversationOutput] = []
        var last = PacketReference(number: 0, time: .distantPast)
        while let (step, side, packet) = script.next() {
            last = packet
            switch step {
            case .bytes(let part):
                for piece in pieces(part, of: piece) {
                    observer.receive(piece, from: side, at: packet, into: &output)
                }
            case .hole(let length): observer.hole(length: length, from: side, at: packet, into: &output)
            case .end: observer.finished(side: side, at: packet, into: &output)
            }
        }
        observer.closed(at: last, into: &output)
        return output
    }
    let whole = run(piece: .max)
    if bytes.count <= 4_096 { check(run(piece: 1) == whole, "splits change the messages") }
}

/// One datagram, and the same bytes as a stream of either framing.
@Sendable func fuzzDNS(_ bytes: UnsafeRawBufferPointer) {
    _ = DNSMessage.parse(bytes)
    var whole = DNSStream()
    var messages: [DNSMessage] = []
    whole.receive(bytes, into: &messages)
    var split = DNSStream()
    var others: [DNSMessage] = []
    for piece in pieces(bytes, of: 1) { split.receive(piece, into: &others) }
    check(messages == others, "splits change the messages")
}
