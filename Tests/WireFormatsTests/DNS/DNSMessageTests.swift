import SessionTrace
import Testing

@testable import WireFormats

/// DNS messages built by hand, and the published example of an HTTPS record.
@Suite struct DNSMessageTests {
    @Test func aQuery() throws {
        let message = try #require(parse(header(questions: 1) + name("ExAmple", "COM") + word(28) + word(1)))
        #expect(!message.isResponse && message.isWhole && message.id == 0x1234)
        let lookup = message.lookup(connection: ConnectionID(1), at: packet, isMulticast: false)
        #expect(lookup.name?.text == "example.com" && lookup.rawName == Array("ExAmple.COM".utf8))
        #expect(lookup.type == 28 && lookup.responseCode == 0 && lookup.answers.isEmpty && !lookup.isResponse)
    }

    @Test func addressesAliasesAndCompression() throws {
        let bytes =
            header(flags: 0x8180, questions: 1, answers: 3) + name("www", "example") + word(1) + word(1)
            // www.example CNAME cdn.example (pointing into the question), cdn.example A and AAAA
            + [0xC0, 12] + record(5, [3, 0x63, 0x64, 0x6E, 0xC0, 16]) + [0xC0, 41] + record(1, [192, 0, 2, 1])
            + [0xC0, 41] + record(28, [0x20, 1, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 11) + [1])
        let message = try #require(parse(bytes))
        #expect(message.isWhole && message.isResponse)
        #expect(message.answers.map(\.name.text) == ["www.example", "cdn.example", "cdn.example"])
        #expect(
            message.answers.map(\.data) == [
                .alias(try #require(HostName("cdn.example"))), .address(try #require(IPAddress("192.0.2.1"))),
                .address(try #require(IPAddress("2001:db8::1"))),
            ])
    }

    @Test func servicesWithProtocolsAndEncryptedHello() throws {
        let configuration: [UInt8] =
            [7] + word(0x20) + word(2) + [1, 2] + word(4) + word(1) + word(1) + [0] + [10] + Array("public.net".utf8)
            + word(0)
        let grease: [UInt8] = word(0xFEFE) + word(1) + [0]
        let list = grease + word(0xFE0D) + word(UInt16(configuration.count)) + configuration
        let ech = word(UInt16(list.count)) + list
        let data =
            word(1) + [0] + word(1) + word(6) + [2] + Array("h2".utf8) + [2] + Array("h3".utf8)
            + word(4) + word(4) + [1, 1, 1, 1] + word(5) + word(UInt16(ech.count)) + ech
        let alias = word(0) + name("svc", "example")
        let bytes =
            header(flags: 0x8180, questions: 1, answers: 2) + name("a") + word(65) + word(1) + [0xC0, 12]
            + record(65, data)
            + [0xC0, 12] + record(64, alias)
        let message = try #require(parse(bytes))
        #expect(message.isWhole)
        #expect(
            message.answers[0].data == .service(target: nil, alpn: ["h2", "h3"], echPublicName: HostName("public.net")))
        #expect(message.answers[1].data == .service(target: HostName("svc.example"), alpn: [], echPublicName: nil))
    }

    @Test func manyQuestionsOfMulticast() throws {
        let question = { (label: String) in name(label, "local") + word(12) + word(1) }
        let message = try #require(parse(header(questions: 3) + question("a") + question("b") + question("c")))
        let lookup = message.lookup(connection: ConnectionID(1), at: packet, isMulticast: true)
        #expect(lookup.name?.text == "a.local" && lookup.isMulticast)
        #expect(lookup.furtherQuestions.map(\.name?.text) == ["b.local", "c.local"])
    }

    /// What is readable before the fault is given; the fault is told by `isWhole`.
    @Test func brokenNames() throws {
        let tables: [([UInt8], raw: String)] = [
            ([3, 0x61, 0x62, 0x63, 0x80], raw: "abc"),  // a label type that is reserved
            ([3, 0x61, 0x62, 0x63, 0xC0, 12] + word(1) + word(1), raw: "abc"),  // a pointer to itself: a loop
            ([3, 0x61, 0x62, 0x63, 0xC0, 200] + word(1) + word(1), raw: "abc"),  // and one beyond the message
            ([3, 0x61, 0x62, 0x63, 9, 0x64], raw: "abc"),  // a label longer than the message
        ]
        for (bytes, raw) in tables {
            let message = try #require(parse(header(questions: 1) + bytes))
            #expect(!message.isWhole && message.questions.first?.rawName == Array(raw.utf8), "\(bytes)")
            #expect(message.questions.first?.name == nil)
        }
        #expect(parse([UInt8](repeating: 0, count: 11)) == nil)
    }

    @Test func namesOfMoreThan255BytesEndThere() throws {
        let labels = (0..<6).flatMap { _ in [63] + [UInt8](repeating: 0x61, count: 63) }
        let message = try #require(parse(header(questions: 1) + labels + [0] + word(1) + word(1)))
        #expect(!message.isWhole && message.questions.first?.rawName.count == 191)
    }

    @Test func countsThatLieAndLimits() throws {
        let lying = try #require(parse(header(questions: 0xFFFF, answers: 0xFFFF) + name("a") + word(1) + word(1)))
        #expect(!lying.isWhole && lying.questions.count == 1)
        let many = (0..<300).flatMap { _ in [UInt8(0)] + word(1) + word(1) }
        let limited = try #require(parse(header(questions: 300) + many))
        #expect(limited.questions.count == DNSMessage.questionLimit && !limited.isWhole)
        let records = (0..<1_100).flatMap { _ in [0xC0, 12] + record(1, [1, 2, 3, 4]) }
        let answers = try #require(
            parse(header(flags: 0x8180, questions: 1, answers: 1_100) + name("a") + word(1) + word(1) + records))
        #expect(answers.answers.count == DNSMessage.answerLimit && !answers.isWhole)
    }

    @Test func mutationsNeverTrap() {
        var generator = SplitGenerator(state: 31)
        let bytes =
            header(flags: 0x8180, questions: 1, answers: 2) + name("www", "example") + word(65) + word(1)
            + [0xC0, 12] + record(5, [3, 0x63, 0x64, 0x6E, 0xC0, 16])
            + [0xC0, 12]
            + record(
                65, word(1) + [0] + word(1) + word(3) + [2, 0x68, 0x32] + word(5) + word(4) + word(2) + word(0xFE0D))
        for _ in 0..<50_000 {
            var mutated = bytes
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                mutated[Int.random(in: 0..<mutated.count, using: &generator)] = UInt8.random(
                    in: 0...255, using: &generator)
            }
            _ = parse(Array(mutated.prefix(Int.random(in: 0...mutated.count, using: &generator))))
        }
    }

    // MARK: TCP

    @Test func messagesOfAStreamInAnyPieces() {
        let one = header(questions: 1) + name("a") + word(1) + word(1)
        let other = header(flags: 0x8180, questions: 1) + name("b") + word(1) + word(1)
        let bytes = word(UInt16(one.count)) + one + word(0) + word(UInt16(other.count)) + other
        for size in 1...bytes.count {
            var stream = DNSStream()
            var messages: [DNSMessage] = []
            for start in stride(from: 0, to: bytes.count, by: size) {
                bytes[start..<min(bytes.count, start + size)].withUnsafeBytes { stream.receive($0, into: &messages) }
            }
            #expect(messages.map { $0.questions.first?.name?.text } == ["a", "b"])
            #expect(stream.unreadBytes == 0)
        }
    }

    @Test func holesOfAStream() {
        let one = header(questions: 1) + name("a") + word(1) + word(1)
        let framed = word(UInt16(one.count)) + one
        var stream = DNSStream()
        var messages: [DNSMessage] = []
        framed.prefix(10).withUnsafeBytes { stream.receive($0, into: &messages) }
        stream.hole(length: 4)
        (Array(framed.dropFirst(14)) + framed).withUnsafeBytes { stream.receive($0, into: &messages) }
        #expect(messages.count == 1 && stream.unreadBytes == framed.count - 2 - 4)
        stream.hole(length: nil)
        framed.withUnsafeBytes { stream.receive($0, into: &messages) }
        #expect(messages.count == 1 && stream.unreadBytes == 2 * framed.count - 6)
    }

    // MARK: Building

    private let packet = PacketReference(number: 1, time: Instant(nanoseconds: 0))

    private func parse(_ bytes: [UInt8]) -> DNSMessage? { bytes.withUnsafeBytes { DNSMessage.parse($0) } }

    private func header(flags: UInt16 = 0x0100, questions: UInt16, answers: UInt16 = 0) -> [UInt8] {
        word(0x1234) + word(flags) + word(questions) + word(answers) + word(0) + word(0)
    }

    private func name(_ labels: String...) -> [UInt8] {
        labels.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) } + [0]
    }

    private func word(_ value: UInt16) -> [UInt8] { [UInt8(value >> 8), UInt8(value & 0xFF)] }

    private func record(_ type: UInt16, _ data: [UInt8]) -> [UInt8] {
        word(type) + word(1) + [0, 0, 0, 60] + word(UInt16(data.count)) + data
    }
}
