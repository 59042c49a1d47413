internal import SessionTrace

/// The closed union of handoff decisions (CONTRACT.md, "The decision"): what a decision must hold, and nothing else.
enum DecisionSchema {
    static let neutralOnly = "neutral_only"
    static let shareOrNeutral = "share_or_neutral"
    static let modes: Set<String> = [neutralOnly, shareOrNeutral]

    /// The path on which the partner's backend calls Chia; it stands in the decision as a literal.
    static let sessionPath = "/v2/handoff-sessions"
    static let shareLabel = "Share selection and continue"
    /// Members that make a session action: none may stand in `neutral_only` (HR-39).
    static let sessionMembers: Set<String> = ["primary", "sessionCreationPath", "disclosureVersion"]
    /// Members that no other object is likely to hold two of: they show a decision whose `mode` is gone.
    static let tellingMembers: Set<String> = [
        "primary", "secondary", "recipient", "dataShared", "policyUrls", "compensationDisclosure",
    ]

    /// Offences kept of one decision.
    static let offenceLimit = 40

    /// What a member's value must be.
    indirect enum Shape {
        case text
        case literal(String)
        /// A list of texts.
        case texts
        /// Any names, each with an https URL.
        case urls
        case object([(name: String, shape: Shape)])
    }

    private static let neutralMembers: [(name: String, shape: Shape)] = [
        ("mode", .literal(neutralOnly)), ("heading", .text), ("body", .text),
        ("actionLabel", .literal("Continue to Chia")), ("url", .text),
    ]

    private static let shareMembers: [(name: String, shape: Shape)] = [
        ("mode", .literal(shareOrNeutral)), ("heading", .text), ("body", .text),
        ("recipient", .object([("legal_name", .text), ("privacy_contact", .text)])), ("dataShared", .texts),
        ("purpose", .text), ("compensationDisclosure", .text), ("policyUrls", .urls),
        (
            "primary",
            .object([
                ("actionLabel", .literal(shareLabel)), ("sessionCreationPath", .literal(sessionPath)),
                ("disclosureVersion", .text),
            ])
        ),
        ("secondary", .object([("actionLabel", .literal("Continue without sharing")), ("url", .text)])),
    ]

    /// Every member's name.
    static let names: Set<String> = {
        func names(_ members: [(name: String, shape: Shape)]) -> [String] {
            members.flatMap { name, shape in
                if case .object(let inner) = shape { return [name] + names(inner) }
                return [name]
            }
        }
        return Set(names(neutralMembers) + names(shareMembers))
    }()

    /// Where a decision may hold URLs.
    static func urlPlaces(mode: String, in decision: JSONPlace) -> [JSONPlace] {
        switch mode {
        case neutralOnly: [decision.member("url")]
        case shareOrNeutral: [decision.member("secondary").member("url"), decision.member("policyUrls")]
        default: []
        }
    }

    /// Everything in which a decision differs from the union.
    static func offences(of decision: JSONValue, at place: JSONPlace, redactor: Redactor) -> [DecisionOffence] {
        var check = DecisionCheck(redactor: redactor)
        switch decision["mode"] {
        case .string(neutralOnly)?: check.object(decision, neutralMembers, place)
        case .string(shareOrNeutral)?: check.object(decision, shareMembers, place)
        case .string(let mode)?:
            check.add(
                .unknownMode, place.member("mode"),
                "is \"\(redactor.text(mode.prefix(60)))\", which is neither \(neutralOnly) nor \(shareOrNeutral)")
        case nil: check.add(.missingMember, place.member("mode"), "is missing")
        case let other?: check.add(.wrongType, place.member("mode"), "is \(other.kindWords), and must be text")
        }
        return check.offences
    }
}

/// One thing in which a decision differs from the closed union.
struct DecisionOffence: Hashable, Sendable {
    enum Kind: String, Hashable, Sendable {
        case unknownMode = "unknown-mode"
        case missingMember = "missing-member"
        case unknownMember = "unknown-member"
        case duplicateKey = "duplicate-key"
        case wrongType = "wrong-type"
        case wrongLiteral = "wrong-literal"
        case notHTTPS = "not-https"

        /// Whether an app can't tell what was decided, or what it is to show (HR-41).
        var isUnsupported: Bool {
            switch self {
            case .unknownMode, .missingMember, .wrongType, .wrongLiteral: true
            case .unknownMember, .duplicateKey, .notHTTPS: false
            }
        }
    }

    var kind: Kind
    var place: JSONPlace
    /// What is wrong there; holds no value.
    var words: String
}

/// Walks one decision along its schema.
struct DecisionCheck {
    let redactor: Redactor
    private(set) var offences: [DecisionOffence] = []

    init(redactor: Redactor) {
        self.redactor = redactor
    }

    mutating func add(_ kind: DecisionOffence.Kind, _ place: JSONPlace, _ words: String) {
        guard offences.count < DecisionSchema.offenceLimit else { return }
        offences.append(DecisionOffence(kind: kind, place: place, words: words))
    }

    mutating func object(
        _ value: JSONValue, _ shapes: [(name: String, shape: DecisionSchema.Shape)], _ place: JSONPlace
    ) {
        guard let members = value.members else {
            return add(.wrongType, place, "is \(value.kindWords), and must be an object")
        }
        for (name, shape) in shapes {
            guard let member = value[name] else {
                add(.missingMember, place.member(name), "is missing")
                continue
            }
            check(member, shape, place.member(name))
        }
        for member in members where !shapes.contains(where: { $0.name == member.name }) {
            add(.unknownMember, place.member(member.name), "is no member of the union")
        }
    }

    private mutating func check(_ value: JSONValue, _ shape: DecisionSchema.Shape, _ place: JSONPlace) {
        switch shape {
        case .text:
            if value.stringValue == nil { add(.wrongType, place, "is \(value.kindWords), and must be text") }
        case .literal(let literal):
            guard let text = value.stringValue else {
                return add(.wrongType, place, "is \(value.kindWords), and must be \"\(literal)\"")
            }
            if text != literal {
                add(.wrongLiteral, place, "is \"\(redactor.text(text.prefix(60)))\", and must be \"\(literal)\"")
            }
        case .texts:
            guard case .array(let elements) = value else {
                return add(.wrongType, place, "is \(value.kindWords), and must be a list of texts")
            }
            for (index, element) in elements.enumerated() where element.stringValue == nil {
                add(.wrongType, place.element(index), "is \(element.kindWords), and must be text")
            }
        case .urls:
            guard let members = value.members else {
                return add(.wrongType, place, "is \(value.kindWords), and must map names to URLs")
            }
            for member in members {
                guard let text = member.value.stringValue else {
                    add(.wrongType, place.member(member.name), "is \(member.value.kindWords), and must be a URL")
                    continue
                }
                if WebAddress(text)?.scheme != "https" {
                    add(.notHTTPS, place.member(member.name), "is no https URL")
                }
            }
        case .object(let shapes):
            object(value, shapes, place)
        }
    }
}
