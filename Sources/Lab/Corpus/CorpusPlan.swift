/// Which stories are played over which transports.
internal import Crypto

/// One session that is to be recorded.
public struct PlannedSession: Hashable, Sendable {
    /// What is played.
    public var story: Story
    /// How it goes over the network.
    public var transport: LabTransport

    /// A session to be.
    public init(story: Story, transport: LabTransport) {
        self.story = story
        self.transport = transport
    }

    /// `STORY/TRANSPORT`, and the beginning of its files' paths.
    public var name: String { "\(story.name)/\(transport.name)" }
}

/// The sessions of a corpus.
public enum CorpusPlan {
    /// Each story over as many transports as it asks for. Which ones depends on its name alone, so that they stay the same
    /// when stories are added, and differ between stories.
    public static func sessions(of stories: [Story], isKeptPart: Bool) -> [PlannedSession] {
        stories.filter { $0.isKept || !isKeptPart }.flatMap { story in
            let allowed = LabTransport.all.filter { story.allows($0) && (!isKeptPart || $0.stack == .lab) }
            let usable = allowed.isEmpty ? LabTransport.all.filter(story.allows) : allowed
            let start = Int(hash(story.name) % UInt32(truncatingIfNeeded: usable.count))
            let count = isKeptPart ? 1 : min(story.transports, usable.count)
            return (0..<count).map {
                PlannedSession(story: story, transport: usable[(start + $0) % usable.count])
            }
        }
    }

    /// A digest of everything that a session's recording depends on; labels are not among it.
    public static func stamp(of session: PlannedSession, _ book: StoryBook) -> String {
        var story = session.story
        story.expectations = []
        story.about = ""
        story.isKept = false
        story.transports = 0
        for index in story.steps.indices { story.steps[index].place = "" }
        let documents = book.documents.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        let senders = book.senders.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        let parts = ["\(story)", book.policyText(of: session.story), session.transport.name] + documents + senders
        let bytes = HashFunction.sha256.digest(of: parts.joined(separator: "\n").utf8)
        return bytes.prefix(12).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// FNV-1a.
    private static func hash(_ text: String) -> UInt32 {
        text.utf8.reduce(2_166_136_261) { ($0 ^ UInt32($1)) &* 16_777_619 }
    }
}
