internal import SessionTrace

/// Cookies and credentials by who was given them and who sent them, to see whether one crossed between Chia and the app
/// (HR-53). Values that say too little to be told apart from others are left out.
struct CookieBook: Sendable {
    /// One value where it was first seen.
    struct Entry: Hashable, Sendable {
        /// The cookie's name, masked where it looks like a value; else the header field's.
        var name: String
        var record: RequestRecord
    }

    /// Set by a Chia host.
    private(set) var ofChia: [Secret: Entry] = [:]
    /// The same of a withheld connection: keyed digests.
    private(set) var ofChiaWithheld: [String: Entry] = [:]
    /// Sent by the app, to whatever host.
    private(set) var ofApp: [Secret: [Entry]] = [:]
    /// Given to the app in an answer, by whatever host: the one that it had first.
    private(set) var givenToApp: [Secret: Entry] = [:]
    /// Sent to a Chia host, by anybody.
    private(set) var toChia: [Secret: Entry] = [:]
    private(set) var toChiaWithheld: [String: Entry] = [:]
    /// Whether cookies of a withheld connection were kept with the key of another installation, so that they can't be
    /// compared.
    private(set) var hasForeignDigests = false
    private var hasOwnDigests = false
    private(set) var isFull = false
    /// Whether there were more cookies of Chia's than are looked for in contents.
    var hasMore = false

    /// Values kept of each kind.
    static let limit = 2_000
    /// Hosts and senders kept of one value.
    static let senders = 64
    /// Cookies of Chia's that are looked for in contents.
    static let searched = 64
    /// Header fields that hold nothing but a credential.
    static let credentialFields = [
        "authorization", "x-api-key", "x-auth-token", "x-access-token", "x-session-token",
    ]
    /// Bytes of a value that is kept.
    static let longest = 4_096

    /// Whether all withheld cookies can be compared with others.
    var canCompareWithheld: Bool { ofChiaWithheld.isEmpty && toChiaWithheld.isEmpty || hasOwnDigests }

    /// Notes whether a digest of a known URL is one of this installation's.
    mutating func learnDigest(isOwn: Bool) {
        if isOwn { hasOwnDigests = true } else { hasForeignDigests = true }
    }

    /// Cookies that an answer sets.
    mutating func keepGiven(_ values: [(name: String, value: String)], _ record: RequestRecord, byChia: Bool) {
        for (name, value) in values {
            guard let secret = Self.telling(value) else { continue }
            let entry = Entry(name: name, record: record)
            if byChia {
                Self.add(entry, for: secret, to: &ofChia, &isFull)
            } else {
                Self.add(entry, for: secret, to: &givenToApp, &isFull)
            }
        }
    }

    /// Cookies and credentials that a request sends.
    mutating func keepSent(
        _ values: [(name: String, value: String)], _ record: RequestRecord, toChia: Bool, byApp: Bool
    ) {
        for (name, value) in values {
            guard let secret = Self.telling(value) else { continue }
            let entry = Entry(name: name, record: record)
            if toChia { Self.add(entry, for: secret, to: &self.toChia, &isFull) }
            if byApp {
                guard ofApp[secret] != nil || ofApp.count < Self.limit else {
                    isFull = true
                    continue
                }
                // One of each host and sender: a value may be sent to several.
                let isKnown = ofApp[secret, default: []].contains {
                    $0.record.host == record.host && $0.record.actor.actor == record.actor.actor
                        && $0.record.actor.basis == record.actor.basis
                        && $0.record.client?.address == record.client?.address
                }
                if isKnown { continue }
                guard ofApp[secret, default: []].count < Self.senders else {
                    isFull = true
                    continue
                }
                ofApp[secret, default: []].append(entry)
            }
        }
    }

    /// Cookies of a withheld head: `name=digest; name=digest`.
    mutating func keepWithheld(_ pairs: String, _ record: RequestRecord, areGiven: Bool) {
        for pair in pairs.split(separator: ";") {
            let halves = pair.split(separator: "=", maxSplits: 1)
            guard halves.count == 2, halves[1].utf8.count == 32 else { continue }
            let entry = Entry(name: String(halves[0].drop { $0 == " " }), record: record)
            if areGiven {
                Self.add(entry, for: String(halves[1]), to: &ofChiaWithheld, &isFull)
            } else {
                Self.add(entry, for: String(halves[1]), to: &toChiaWithheld, &isFull)
            }
        }
    }

    private static func add<Key: Hashable>(
        _ entry: Entry, for key: Key, to entries: inout [Key: Entry], _ isFull: inout Bool
    ) {
        guard entries[key] == nil else { return }
        guard entries.count < limit else {
            isFull = true
            return
        }
        entries[key] = entry
    }

    /// Long and varied enough that two equal ones are one.
    private static func telling(_ value: String) -> Secret? {
        let bytes = Array(value.utf8.prefix(longest))
        return NeedleForms.isTelling(bytes) ? Secret(bytes) : nil
    }
}
