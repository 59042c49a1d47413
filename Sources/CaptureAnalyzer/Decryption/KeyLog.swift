/// Secrets of TLS sessions from key logs: lines in, secrets by client random out.
public import WireFormats

/// The secrets of NSS key logs (draft-ietf-tls-keylogfile), shared by all connections; lines may come at any time.
///
/// Besides the draft's labels it takes what older tools write: `RSA` (a premaster secret by the first eight bytes of its
/// encrypted form), `RSA Session-ID:… Master-Key:…`, and `PMS_CLIENT_RANDOM`.
public struct KeyLog {
    /// What a secret is for. The raw value is the label in the file.
    public enum Label: String, Hashable, Sendable, CaseIterable {
        case masterSecret = "CLIENT_RANDOM"
        case premasterSecret = "PMS_CLIENT_RANDOM"
        case clientEarly = "CLIENT_EARLY_TRAFFIC_SECRET"
        case clientHandshake = "CLIENT_HANDSHAKE_TRAFFIC_SECRET"
        case serverHandshake = "SERVER_HANDSHAKE_TRAFFIC_SECRET"
        case clientTraffic = "CLIENT_TRAFFIC_SECRET_0"
        case serverTraffic = "SERVER_TRAFFIC_SECRET_0"
        case quicClientEarly = "QUIC_CLIENT_EARLY_TRAFFIC_SECRET"
        case quicClientHandshake = "QUIC_CLIENT_HANDSHAKE_TRAFFIC_SECRET"
        case quicServerHandshake = "QUIC_SERVER_HANDSHAKE_TRAFFIC_SECRET"
        case quicClientTraffic = "QUIC_CLIENT_TRAFFIC_SECRET_0"
        case quicServerTraffic = "QUIC_SERVER_TRAFFIC_SECRET_0"
        case echSecret = "ECH_SECRET"
        case echConfig = "ECH_CONFIG"
    }

    /// A line that is not of the format.
    public struct BadLine: Hashable, Sendable {
        /// Its number, counted from 1 over everything that was added.
        public var number: Int
        /// What is wrong with it; never its content.
        public var reason: String
    }

    /// Entries (client randoms, session ids, premaster secrets) that are kept at most; later ones are counted in
    /// `droppedEntries`.
    public static let maximumEntries = 1_000_000
    /// Bad lines that are kept with their numbers; all are counted.
    public static let maximumBadLines = 20
    /// Labels that are known and of no use here.
    private static let ignoredLabels: Set<String> = [
        "EXPORTER_SECRET", "EARLY_EXPORTER_SECRET", "QUIC_EXPORTER_SECRET", "QUIC_EARLY_EXPORTER_SECRET",
    ]

    private struct Entry {
        var secrets: [(label: Label, secret: [UInt8])] = []
        var isUsed = false
        var isClaimed = false
    }

    private var entries: [TLSRandom: Entry] = [:]
    private var sessions: [[UInt8]: [UInt8]] = [:]
    private var premasters: [UInt64: [UInt8]] = [:]
    private var usedSessions: Set<[UInt8]> = []
    private var usedPremasters: Set<UInt64> = []

    /// Changes whenever a secret was added: a connection that waits looks again.
    public private(set) var generation = 0
    /// Lines read, comments and empty ones included.
    public private(set) var lines = 0
    /// Lines that are a key, new or known already.
    private(set) var readableLines = 0
    /// Lines that are not of the format: how many.
    public private(set) var badLineCount = 0
    /// The first of them.
    public private(set) var badLines: [BadLine] = []
    /// Lines whose label nobody here knows.
    public private(set) var unknownLabels = 0
    /// Entries beyond `maximumEntries`.
    public private(set) var droppedEntries = 0

    /// No secrets.
    public init() {}

    /// Distinct entries: client randoms, session ids and premaster secrets.
    public var entryCount: Int { entries.count + sessions.count + premasters.count }

    /// Entries that opened something.
    public var usedCount: Int {
        entries.values.reduce(0) { $0 + ($1.isUsed ? 1 : 0) } + usedSessions.count + usedPremasters.count
    }

    /// Entries whose connection was seen though nothing of it could be, or had to be, opened (QUIC, early failures).
    public var seenButUnusedCount: Int {
        entries.values.reduce(0) { $0 + ($1.isClaimed && !$1.isUsed ? 1 : 0) }
    }

    /// Whether a secret is here from which a master secret can only be computed with the handshake's own bytes.
    public var hasPremasterSecrets: Bool {
        !premasters.isEmpty || holdsClientPremasters
    }

    private var holdsClientPremasters = false

    // MARK: Adding

    /// Adds the lines of a key log, or of a piece of one that ends where a line ends. Lines end with LF, CRLF or CR.
    public mutating func add(nss text: UnsafeRawBufferPointer) {
        var start = text.startIndex
        while start < text.endIndex {
            let end = text[start...].firstIndex { $0 == 0x0A || $0 == 0x0D } ?? text.endIndex
            var next = end + 1
            if end < text.endIndex, text[end] == 0x0D, next < text.endIndex, text[next] == 0x0A { next += 1 }
            add(line: text[start..<end])
            start = next
        }
    }

    /// Adds the lines of a key log.
    public mutating func add(nss text: String) {
        var text = text
        text.withUTF8 { add(nss: UnsafeRawBufferPointer($0)) }
    }

    private mutating func add(line: Slice<UnsafeRawBufferPointer>) {
        lines += 1
        let words = line.split { $0 == 0x20 || $0 == 0x09 }
        guard let first = words.first, first.first != 0x23 else { return }
        let label = String(decoding: first, as: UTF8.self)
        let badBefore = badLineCount
        if label == "RSA" {
            addRSA(words.dropFirst().map { $0 })
        } else if let label = Label(rawValue: label) {
            addSecret(label, words.dropFirst().map { $0 })
        } else if !Self.ignoredLabels.contains(label) {
            unknownLabels += 1
            if words.count != 3 { reject("neither a comment nor LABEL RANDOM SECRET") }
            return
        }
        if badLineCount == badBefore { readableLines += 1 }
    }

    private mutating func addSecret(_ label: Label, _ words: [Slice<UnsafeRawBufferPointer>]) {
        guard words.count == 2 else { return reject("expected three words") }
        guard let random = Self.bytes(words[0]).flatMap({ TLSRandom($0) }) else {
            return reject("the client random is not 64 hexadecimal digits")
        }
        guard let secret = Self.bytes(words[1]), label.allows(length: secret.count) else {
            return reject("the secret has a length that its label does not allow, or other characters")
        }
        guard entries[random] != nil || entryCount < Self.maximumEntries else {
            droppedEntries += 1
            return
        }
        let isNew = entries[random]?.secrets.contains { $0.label == label && $0.secret == secret } != true
        guard isNew else { return }
        if label == .premasterSecret { holdsClientPremasters = true }
        entries[random, default: Entry()].secrets.append((label, secret))
        generation += 1
    }

    private mutating func addRSA(_ words: [Slice<UnsafeRawBufferPointer>]) {
        guard words.count == 2 else { return reject("expected three words") }
        guard entryCount < Self.maximumEntries else {
            droppedEntries += 1
            return
        }
        if let id = Self.value(of: "Session-ID:", words[0]), let secret = Self.value(of: "Master-Key:", words[1]) {
            guard let id = Self.bytes(id), let secret = Self.bytes(secret), secret.count == 48, id.count <= 32 else {
                return reject("session id or master secret is not hexadecimal of the right length")
            }
            sessions[id] = secret
        } else {
            guard let start = Self.bytes(words[0]), start.count == 8, let secret = Self.bytes(words[1]),
                secret.count == 48
            else { return reject("premaster secret or its encrypted start is not hexadecimal of the right length") }
            premasters[Self.number(start)] = secret
        }
        generation += 1
    }

    private mutating func reject(_ reason: String) {
        badLineCount += 1
        if badLines.count < Self.maximumBadLines { badLines.append(BadLine(number: lines, reason: reason)) }
    }

    // MARK: Looking up

    /// The secrets of a connection for one label, in the order in which they came; usually one.
    func secrets(_ label: Label, for random: TLSRandom) -> [[UInt8]] {
        entries[random]?.secrets.filter { $0.label == label }.map(\.secret) ?? []
    }

    /// Whether there is any secret for a connection.
    public func has(_ random: TLSRandom) -> Bool { entries[random] != nil }

    /// The master secret of a session by its id (`RSA Session-ID:` lines).
    func masterSecret(session id: [UInt8]) -> [UInt8]? { sessions[id] }

    /// The premaster secret by the start of its encrypted form (`RSA` lines).
    func premasterSecret(encrypted: [UInt8]) -> [UInt8]? {
        encrypted.count >= 8 ? premasters[Self.number(encrypted.prefix(8))] : nil
    }

    /// Notes that an entry opened something.
    mutating func markUsed(_ random: TLSRandom) {
        guard entries[random]?.isUsed == false else { return }
        entries[random]?.isUsed = true
    }

    /// Notes that an entry opened something.
    mutating func markUsed(session id: [UInt8]) {
        usedSessions.insert(id)
    }

    /// Notes that an entry opened something.
    mutating func markUsed(encrypted: [UInt8]) {
        usedPremasters.insert(Self.number(encrypted.prefix(8)))
    }

    /// Notes that a hello with this random was seen; such an entry can't be the inner random of another connection.
    public mutating func claim(_ random: TLSRandom) {
        guard entries[random]?.isClaimed == false else { return }
        entries[random]?.isClaimed = true
    }

    /// Randoms of entries with TLS 1.3 secrets whose hello was not seen, at most `limit`: where an encrypted ClientHello
    /// was accepted, secrets are logged under the inner random, which nobody can see.
    func unclaimedRandoms(limit: Int) -> [TLSRandom] {
        var found: [TLSRandom] = []
        for (random, entry) in entries where !entry.isClaimed && !entry.isUsed {
            guard entry.secrets.contains(where: { $0.label == .serverHandshake || $0.label == .serverTraffic }) else {
                continue
            }
            found.append(random)
            if found.count == limit { break }
        }
        return found
    }

    // MARK: Text

    private static func value(
        of name: StaticString, _ word: Slice<UnsafeRawBufferPointer>
    ) -> Slice<UnsafeRawBufferPointer>? {
        let prefix = UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
        return word.starts(with: prefix) ? word.dropFirst(prefix.count) : nil
    }

    private static func bytes(_ digits: Slice<UnsafeRawBufferPointer>) -> [UInt8]? {
        guard digits.count % 2 == 0 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 2)
        var index = digits.startIndex
        while index < digits.endIndex {
            guard let high = nibble(digits[index]), let low = nibble(digits[index + 1]) else { return nil }
            bytes.append(high << 4 | low)
            index += 2
        }
        return bytes
    }

    private static func nibble(_ digit: UInt8) -> UInt8? {
        switch digit {
        case 0x30...0x39: digit - 0x30
        case 0x41...0x46: digit - 0x37
        case 0x61...0x66: digit - 0x57
        default: nil
        }
    }

    private static func number(_ bytes: some Sequence<UInt8>) -> UInt64 {
        bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}

extension KeyLog.Label {
    /// Lengths in bytes that a secret may have: TLS 1.2's are 48 bytes, later ones a hash's length.
    fileprivate func allows(length: Int) -> Bool {
        switch self {
        case .masterSecret: length == 48
        case .premasterSecret: (1...8_192).contains(length)
        case .echConfig: (1...65_535).contains(length)
        case .echSecret: (16...64).contains(length)
        case .clientEarly, .clientHandshake, .serverHandshake, .clientTraffic, .serverTraffic, .quicClientEarly,
            .quicClientHandshake, .quicServerHandshake, .quicClientTraffic, .quicServerTraffic:
            length == 32 || length == 48
        }
    }
}
