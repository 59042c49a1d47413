import Testing

@testable import Crypto

@Suite struct TLSEngineTests {
    @Test(arguments: TLSVersion.allCases)
    func bothSidesAgree(version: TLSVersion) throws {
        let pair = try EnginePair(upTo: version)
        try pair.handshake()
        #expect(pair.client.negotiated?.version == version)
        #expect(pair.server.negotiated == pair.client.negotiated)
        #expect(pair.client.peerCertificate?.subjectAlternativeNames == [.dns("api.example")])
        #expect(pair.server.peerCertificate == nil)
        try pair.client.write(Array("ping".utf8))
        try pair.carry(from: pair.client, to: pair.server) {}
        #expect(try EnginePair.drain(pair.server).bytes == Array("ping".utf8))
        try pair.server.write(Array("pong".utf8))
        try pair.carry(from: pair.server, to: pair.client) {}
        #expect(try EnginePair.drain(pair.client).bytes == Array("pong".utf8))
    }

    /// Every split gives the same connection: a byte at a time, and at random places.
    @Test(arguments: [TLSVersion.tls10, .tls12, .tls13], [1, 2, 3, 4])
    func splitsDontMatter(version: TLSVersion, seed: UInt64) throws {
        var random = SplitMix(seed: seed)
        let pair = try EnginePair(alpn: "h2", upTo: version)
        pair.pieceSize = { seed == 1 ? 1 : Int.random(in: 1...3_000, using: &random) }
        try pair.handshake()
        let sent = (0..<50_000).map { _ in UInt8.random(in: 0...255, using: &random) }
        for (from, to) in [(pair.client, pair.server), (pair.server, pair.client)] {
            var received: [UInt8] = []
            try from.write(sent)
            from.closeNotify()
            try pair.carry(from: from, to: to) { received += try EnginePair.drain(to, bufferSize: 700).bytes }
            #expect(received == sent)
            #expect(try EnginePair.drain(to).end == .closed)
        }
    }

    /// Lent ciphertext is read as fed ciphertext is, however it is cut, and also when it is not read to its end at once: the
    /// memory is overwritten as soon as the loan is over.
    @Test(arguments: [TLSVersion.tls12, .tls13], [1, 2, 3, 4, 5])
    func lentCiphertextNeedNotStay(version: TLSVersion, seed: UInt64) throws {
        var random = SplitMix(seed: seed)
        let pair = try EnginePair(upTo: version)
        try pair.handshake()
        let sent = (0..<90_000).map { _ in UInt8.random(in: 0...255, using: &random) }
        try pair.client.write(sent)
        var received: [UInt8] = []
        while pair.client.hasOutput {
            var piece: [UInt8] = []
            pair.client.withOutput { bytes in
                piece = Array(bytes.prefix(seed == 1 ? 1 : Int.random(in: 1...40_000, using: &random)))
                return piece.count
            }
            let readsAll = Bool.random(using: &random)
            try piece.withUnsafeMutableBytes { memory in
                try pair.server.feed(lending: UnsafeRawBufferPointer(memory)) {
                    if readsAll { received += try EnginePair.drain(pair.server, bufferSize: 700).bytes }
                }
                for index in memory.indices { memory[index] = 0xEE }
            }
        }
        received += try EnginePair.drain(pair.server).bytes
        #expect(received == sent)
    }

    @Test func tooMuchLentCiphertextIsRefused() throws {
        let pair = try EnginePair()
        try pair.handshake()
        let piece = [UInt8](repeating: 0, count: TLSEngine.inputLimit + 1)
        #expect(throws: TLSFailure.self) {
            try piece.withUnsafeBytes { bytes in
                try pair.server.feed(lending: bytes) { _ = try EnginePair.drain(pair.server) }
            }
        }
    }

    /// One side has said that it sends no more; the other goes on (RFC 8446 §6.1).
    @Test(arguments: [TLSVersion.tls12, .tls13], [true, false])
    func oneDirectionOutlivesTheOther(version: TLSVersion, clientClosesFirst: Bool) throws {
        let pair = try EnginePair(upTo: version)
        try pair.handshake()
        let (first, second) = clientClosesFirst ? (pair.client, pair.server) : (pair.server, pair.client)
        try first.write([1, 2, 3])
        first.closeNotify()
        try pair.carry(from: first, to: second) {}
        let read = try EnginePair.drain(second)
        #expect(read.bytes == [1, 2, 3] && read.end == .closed)
        #expect(throws: TLSFailure.self) { try first.write([4]) }
        for round in 0..<3 {
            let answer = [UInt8](repeating: UInt8(round), count: 40_000)
            try second.write(answer)
            try pair.carry(from: second, to: first) {}
            #expect(try EnginePair.drain(first).bytes == answer)
        }
        second.closeNotify()
        try pair.carry(from: second, to: first) {}
        #expect(try EnginePair.drain(first).end == .closed)
        #expect(!first.hasOutput && !second.hasOutput)
    }

    @Test(arguments: [TLSVersion.tls12, .tls13])
    func aMissingCloseNotifyIsTold(version: TLSVersion) throws {
        let pair = try EnginePair(upTo: version)
        try pair.handshake()
        try pair.client.write([7])
        try pair.carry(from: pair.client, to: pair.server) {}
        pair.server.endOfInput()
        let read = try EnginePair.drain(pair.server)
        #expect(read.bytes == [7] && read.end == .truncated)
        // A half-closed connection all the same: the answer still goes out.
        try pair.server.write([8])
        try pair.carry(from: pair.server, to: pair.client) {}
        #expect(try EnginePair.drain(pair.client).bytes == [8])
    }

    @Test func anEndDuringTheHandshakeIsAFailure() throws {
        let pair = try EnginePair()
        _ = try pair.client.handshake()
        try pair.carry(from: pair.client, to: pair.server) { _ = try pair.server.handshake() }
        #expect(pair.server.hasSentCertificate && !pair.server.isHandshakeComplete)
        pair.server.endOfInput()
        let failure = #expect(throws: TLSFailure.self) { try pair.server.handshake() }
        #expect(failure?.kind == .truncated)
    }

    // MARK: ALPN

    @Test(arguments: [TLSVersion.tls12, .tls13])
    func exactlyTheChosenProtocol(version: TLSVersion) throws {
        var options = TLSClientOptions(serverName: "api.example", verification: .none)
        options.alpn = TLSClientOptions.alpnList(["\u{0A}", "h2", "http/1.1"])
        let chosen = try EnginePair(client: options, alpn: "http/1.1", upTo: version)
        try chosen.handshake()
        #expect(chosen.client.negotiated?.alpn == "http/1.1" && chosen.server.negotiated?.alpn == "http/1.1")
        let none = try EnginePair(client: options, alpn: nil, upTo: version)
        try none.handshake()
        #expect(none.client.negotiated?.alpnBytes == nil && none.server.negotiated?.alpnBytes == nil)
        options.alpn = []
        let unasked = try EnginePair(client: options, alpn: "h2", upTo: version)
        try unasked.handshake()
        #expect(unasked.client.negotiated?.alpnBytes == nil)
    }

    /// The offer goes out byte for byte, also with what looks odd.
    @Test func theOfferIsSentAsItIs() throws {
        var options = TLSClientOptions(serverName: "api.example", verification: .none)
        options.alpn = [2, 0x8A, 0x8A, 2, 0x68, 0x32, 2, 0x68, 0x32, 8] + Array("http/1.1".utf8)
        let pair = try EnginePair(client: options)
        _ = try pair.client.handshake()
        var hello: [UInt8] = []
        pair.client.withOutput { bytes in
            hello = Array(bytes)
            return 0
        }
        let extensionBytes = [0, 16, 0, UInt8(options.alpn.count + 2), 0, UInt8(options.alpn.count)] + options.alpn
        #expect(hello.indices.contains { hello[$0...].starts(with: extensionBytes) })
        for broken in [[3, 0x68, 0x32], [0], [2, 0x68, 0x32, 0]] as [[UInt8]] {
            options.alpn = broken
            let failure = #expect(throws: TLSFailure.self) { try EnginePair(client: options) }
            #expect(failure?.kind == .configuration)
        }
    }

    // MARK: Alerts and failures

    @Test(arguments: [TLSVersion.tls10, .tls12, .tls13])
    func aRefusedCertificateIsAnAlertOfThePeer(version: TLSVersion) throws {
        let options = TLSClientOptions(serverName: "api.example", verifyName: "api.example")
        let pair = try EnginePair(client: options, upTo: version)
        let failure = #expect(throws: TLSFailure.self) { try pair.handshake() }
        #expect(failure?.kind == .verification && failure?.alert == 48)
        #expect(failure?.reason.hasPrefix("unknown issuer “CN=handoff CA tests") == true)
        #expect(pair.client.peerCertificate?.subject == "CN=api.example")
        #expect(pair.client.verifyFailure == failure?.reason)
        let seen = #expect(throws: TLSFailure.self) {
            try pair.carry(from: pair.client, to: pair.server) { _ = try pair.server.handshake() }
        }
        #expect(seen?.kind == .peerAlert && seen?.alert == 48 && pair.server.peerAlert == 48)
        #expect(seen?.reason == "the peer ended TLS with the alert unknown_ca")
        #expect(pair.server.hasSentCertificate && !pair.server.isHandshakeComplete)
        // A failure is for good.
        #expect(throws: TLSFailure.self) { try pair.server.handshake() }
    }

    @Test func anAlertInsteadOfAHandshake() throws {
        let pair = try EnginePair()
        _ = try pair.client.handshake()
        try pair.carry(from: pair.client, to: pair.server) {}
        #expect(pair.server.sendAlert(40))
        let failure = #expect(throws: TLSFailure.self) {
            try pair.carry(from: pair.server, to: pair.client) { _ = try pair.client.handshake() }
        }
        #expect(failure?.alert == 40 && failure?.kind == .peerAlert)
        #expect(!pair.server.hasSentCertificate)
        #expect(!pair.client.sendAlert(40))
    }

    @Test func bytesThatAreNoTLS() throws {
        for text in ["GET / HTTP/1.1\r\n\r\n", "\u{16}\u{03}\u{01}\u{00}\u{02}xxxxxxxxxxx", "SSH-2.0-x\r\n"] {
            let pair = try EnginePair()
            Array(text.utf8).withUnsafeBytes(pair.server.feed)
            let failure = #expect(throws: TLSFailure.self) { _ = try pair.server.handshake() }
            #expect(failure?.kind == .protocolViolation)
        }
    }

    /// A flipped bit anywhere in a record fails the reading side and leaves no plaintext.
    @Test func aChangedRecordIsRefused() throws {
        let pair = try EnginePair()
        try pair.handshake()
        try pair.client.write([UInt8](repeating: 1, count: 100))
        var record = Array(pair.client.takeOutput().bytes)
        record[50] ^= 1
        record.withUnsafeBytes(pair.server.feed)
        let failure = #expect(throws: TLSFailure.self) { try EnginePair.drain(pair.server) }
        #expect(failure?.kind == .protocolViolation && failure?.alert == 20)
        #expect(pair.server.hasOutput, "the alert waits to be sent")
    }

    // MARK: Limits and memory

    @Test func tooMuchUnreadInput() throws {
        let pair = try EnginePair()
        try pair.handshake()
        let piece = [UInt8](repeating: 0x17, count: 1 << 20)
        for _ in 0..<4 { piece.withUnsafeBytes(pair.server.feed) }
        [1].withUnsafeBytes(pair.server.feed)
        let failure = #expect(throws: TLSFailure.self) { try EnginePair.drain(pair.server) }
        #expect(failure?.kind == .limit)
    }

    @Test func tooMuchUnsentOutput() throws {
        let pair = try EnginePair()
        try pair.handshake()
        let piece = [UInt8](repeating: 1, count: 1 << 20)
        let failure = #expect(throws: TLSFailure.self) { for _ in 0..<17 { try pair.client.write(piece) } }
        #expect(failure?.kind == .limit)
        var waiting = 0
        pair.client.withOutput { bytes in
            waiting = bytes.count
            return 0
        }
        #expect(waiting <= TLSEngine.outputLimit)
    }

    @Test func outputThatWasTakenStaysValid() throws {
        let pair = try EnginePair()
        try pair.handshake()
        try pair.client.write([1, 2, 3])
        let taken = pair.client.takeOutput()
        try pair.client.write([UInt8](repeating: 9, count: 100_000))
        pair.server.feed(taken.bytes)
        #expect(try EnginePair.drain(pair.server).bytes == [1, 2, 3])
        pair.server.feed(pair.client.takeOutput().bytes)
        #expect(!pair.client.hasOutput)
        #expect(try EnginePair.drain(pair.server).bytes.count == 100_000)
    }

    @Test func manyMegabytes() throws {
        let pair = try EnginePair()
        try pair.handshake()
        var sent = HashTally()
        var received = HashTally()
        var random = SplitMix(seed: 5)
        for _ in 0..<160 {
            let piece = (0..<65_536).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            sent.add(piece)
            try pair.server.write(piece)
            try pair.carry(from: pair.server, to: pair.client) { received.add(try EnginePair.drain(pair.client).bytes) }
        }
        #expect(sent == received)
    }
}

/// A generator that starts from a seed (SplitMix64).
struct SplitMix: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (state ^ state >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}

/// Length and FNV-1a of a stream.
struct HashTally: Equatable {
    private var count = 0
    private var hash: UInt64 = 0xCBF2_9CE4_8422_2325

    mutating func add(_ bytes: [UInt8]) {
        count += bytes.count
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    }
}
