/// A DNS message that the device sent or received.
public struct NameLookup: Hashable, Sendable {
    /// One resource record of an answer.
    public struct Answer: Hashable, Sendable {
        /// What the record holds.
        public enum Data: Hashable, Sendable {
            case address(IPAddress)
            case alias(HostName)
            /// HTTPS or SVCB (RFC 9460): target, ALPN list, and the public name of an ECH configuration if there is one.
            case service(target: HostName?, alpn: [String], echPublicName: HostName?)
            case other
        }

        /// The record's owner name.
        public var name: HostName
        /// Record type number (1 A, 28 AAAA, 5 CNAME, 65 HTTPS …).
        public var type: UInt16
        /// What it holds.
        public var data: Data

        /// Makes an answer.
        public init(name: HostName, type: UInt16, data: Data) {
            self.name = name
            self.type = type
            self.data = data
        }
    }

    /// A question beyond the first one; multicast DNS asks many in one message.
    public struct Question: Hashable, Sendable {
        /// The name; nil when it can't be read.
        public var name: HostName?
        /// The name with its bytes as sent, labels joined by dots.
        public var rawName: [UInt8]
        /// The type asked for.
        public var type: UInt16

        /// Makes a question.
        public init(name: HostName?, rawName: [UInt8], type: UInt16) {
            self.name = name
            self.rawName = rawName
            self.type = type
        }
    }

    /// The conversation that carried it.
    public var connection: ConnectionID
    /// The packet.
    public var seen: PacketReference
    /// Whether it is a response.
    public var isResponse: Bool
    /// Whether it is multicast DNS (port 5353), which says nothing about hosts on the Internet.
    public var isMulticast: Bool
    /// The question's name; nil when it can't be read.
    public var name: HostName?
    /// The question's name with its bytes as sent (0x20 case and all), labels joined by dots, for the leak scanner.
    public var rawName: [UInt8]
    /// The question's type.
    public var type: UInt16
    /// The questions after the first.
    public var furtherQuestions: [Question]
    /// Response code (RFC 1035 §4.1.1); 0 in queries.
    public var responseCode: UInt8
    /// The answers.
    public var answers: [Answer]
    /// The process that asked, where the capture says.
    public var process: ProcessIdentity?

    /// Makes a record of a message.
    public init(
        connection: ConnectionID, seen: PacketReference, isResponse: Bool, isMulticast: Bool, name: HostName?,
        rawName: [UInt8], type: UInt16, responseCode: UInt8 = 0, answers: [Answer] = [],
        process: ProcessIdentity? = nil, furtherQuestions: [Question] = []
    ) {
        self.connection = connection
        self.seen = seen
        self.isResponse = isResponse
        self.isMulticast = isMulticast
        self.name = name
        self.rawName = rawName
        self.type = type
        self.responseCode = responseCode
        self.answers = answers
        self.process = process
        self.furtherQuestions = furtherQuestions
    }
}
