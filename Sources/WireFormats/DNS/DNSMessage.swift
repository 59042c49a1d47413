public import SessionTrace

/// One DNS message (RFC 1035 §4), as far as it can be read.
///
/// Enters: the payload of a UDP datagram to or from port 53 or 5353, one message of a TCP stream (`DNSStream`), or the
/// body of a DNS-over-HTTPS exchange. Leaves: questions and answers. A bad label, a compression loop or a cut message ends
/// the reading there; everything before it is given, and `isWhole` is false.
///
/// Counting as tshark's `dns.*` fields do: every message counts as a query or a response by `isResponse`, port 5353
/// included (and once more as a packet of multicast DNS), and so do bodies of DNS over HTTPS; names are the distinct
/// `rawName`s of all questions, the root included. DNS over TLS is never readable without keys, and then it is not DNS but
/// a TLS connection like others.
///
/// LLMNR (port 5355) has the same form but asks the local link only; it is not to be given here.
public struct DNSMessage: Hashable, Sendable {
    /// Questions read of one message.
    public static let questionLimit = 256
    /// Answers read of one message.
    public static let answerLimit = 1_024

    /// Transaction id.
    public var id: UInt16
    /// Whether the QR bit is set.
    public var isResponse: Bool
    /// The kind of query (RFC 1035 §4.1.1): 0 a standard query, 4 notify, 5 update.
    public var operation: UInt8
    /// The response code, without EDNS's upper bits.
    public var responseCode: UInt8
    /// Whether the sender says that the message was cut to fit (TC).
    public var isTruncated: Bool
    /// The questions.
    public var questions: [NameLookup.Question]
    /// The records of the answer section.
    public var answers: [NameLookup.Answer]
    /// Whether questions and answers could all be read.
    public var isWhole: Bool

    /// Reads a message. Nil when there are not even the twelve bytes of a header.
    public static func parse(_ bytes: UnsafeRawBufferPointer) -> DNSMessage? {
        guard bytes.count >= 12 else { return nil }
        var reader = DNSReader(bytes)
        guard let id = reader.word(), let flags = reader.word(), let questionCount = reader.word(),
            let answerCount = reader.word(), reader.skip(4)
        else { return nil }
        var message = DNSMessage(
            id: id, isResponse: flags & 0x8000 != 0, operation: UInt8(flags >> 11 & 0xF),
            responseCode: UInt8(flags & 0xF), isTruncated: flags & 0x0200 != 0, questions: [], answers: [],
            isWhole: true)
        message.isWhole =
            message.readQuestions(min(Int(questionCount), questionLimit), &reader)
            && questionCount <= questionLimit
            && message.readAnswers(min(Int(answerCount), answerLimit), &reader)
            && answerCount <= answerLimit
        return message
    }

    /// The message as a trace event.
    ///
    /// - Parameter isMulticast: whether port 5353 carried it.
    public func lookup(
        connection: ConnectionID, at packet: PacketReference, isMulticast: Bool, process: ProcessIdentity? = nil
    ) -> NameLookup {
        NameLookup(
            connection: connection, seen: packet, isResponse: isResponse, isMulticast: isMulticast,
            name: questions.first?.name, rawName: questions.first?.rawName ?? [], type: questions.first?.type ?? 0,
            responseCode: isResponse ? responseCode : 0, answers: answers, process: process,
            furtherQuestions: Array(questions.dropFirst()))
    }

    private mutating func readQuestions(_ count: Int, _ reader: inout DNSReader) -> Bool {
        for _ in 0..<count {
            let name = reader.name()
            guard name.isWhole, let type = reader.word(), reader.skip(2) else {
                // A name that breaks off is still what somebody asked for.
                if !name.bytes.isEmpty {
                    questions.append(NameLookup.Question(name: nil, rawName: name.bytes, type: 0))
                }
                return false
            }
            questions.append(NameLookup.Question(name: name.host, rawName: name.bytes, type: type))
        }
        return true
    }

    private mutating func readAnswers(_ count: Int, _ reader: inout DNSReader) -> Bool {
        for _ in 0..<count {
            let owner = reader.name()
            guard owner.isWhole, let type = reader.word(), reader.skip(6), let length = reader.word(),
                let end = reader.end(after: Int(length))
            else { return false }
            if let host = owner.host {
                let data = DNSRecordData.read(type: type, &reader, end: end)
                answers.append(NameLookup.Answer(name: host, type: type, data: data))
            }
            reader.move(to: end)
        }
        return true
    }
}
