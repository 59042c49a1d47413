internal import SessionTrace

/// Reads the JSON text of a projection: decisions by the policy's pointer or by their shape, and everything else that
/// rules about projections ask.
///
/// A decision is an object whose `mode` is one of the two literals. Where the policy names the request or the place, one
/// with another `mode`, or with none, is a decision too: a broken one.
struct ProjectionReader {
    let fields: Policy.Fields
    let matchesTemplate: Bool
    let redactor: Redactor
    let roleOf: (HostName) -> HostRole

    private(set) var decisions: [Projection.Decision] = []
    private(set) var oddURLs: [ProjectionURL] = []
    private(set) var urlCount = 0
    private(set) var duplicates: [JSONPlace] = []
    private(set) var evidenceMarks: [EvidenceMark] = []
    private(set) var images: [ProjectionImage] = []
    private(set) var isCropped = false

    private var texts: [(text: String, place: JSONPlace)] = []
    /// Objects that may hold an item's image.
    private var items: [(place: JSONPlace, value: JSONValue)] = []

    /// Names under which an object says which item it is.
    static let itemNames = ["catalogId", "catalog_id", "id", "itemId"]
    /// Names under which a decision stands, whatever is in it.
    static let decisionNames: Set<String> = ["handoff", "decision", "handoffDecision", "handoff_decision"]
    /// URLs looked at in one text.
    static let urlLimit = 2_000

    init(
        fields: Policy.Fields, matchesTemplate: Bool, redactor: Redactor, roleOf: @escaping (HostName) -> HostRole
    ) {
        self.fields = fields
        self.matchesTemplate = matchesTemplate
        self.redactor = redactor
        self.roleOf = roleOf
    }

    mutating func read(_ value: JSONValue, item: String?) {
        if let pointer = fields.projection, let place = JSONPlace.root.following(pointer: pointer),
            let pointed = value.value(at: pointer)
        {
            items.append((.root, value))
            if let owner = parent(of: pointer), let object = value.value(at: owner),
                let ownerPlace = JSONPlace.root.following(pointer: owner)
            {
                items.append((ownerPlace, object))
            }
            let own = owner(of: pointer, in: value) ?? item
            if case .object(let members) = pointed, !members.isEmpty, !isDecision(pointed, name: nil),
                !holdsDecision(pointed)
            {
                keep(pointed, item: own, at: place)
            } else {
                walk(pointed, item: own, at: place, name: nil, owner: nil, isIn: false)
            }
            // The rest is looked at for what may stand nowhere.
            let found = decisions
            walk(value, item: item, at: .root, name: nil, owner: nil, isIn: false)
            decisions = found
        } else {
            items.append((.root, value))
            walk(value, item: item, at: .root, name: nil, owner: nil, isIn: false)
        }
        keepURLs()
        keepImages()
    }

    // MARK: decisions

    private func isDecision(_ value: JSONValue, name: String?) -> Bool {
        if let mode = value["mode"]?.stringValue, DecisionSchema.modes.contains(mode) { return true }
        guard matchesTemplate, let members = value.members else { return false }
        let telling = Set(members.map(\.name)).intersection(DecisionSchema.tellingMembers).count
        if value["mode"] == nil { return telling >= 2 }
        return telling >= 1 || value["url"] != nil || name.map(Self.decisionNames.contains) ?? false
    }

    private func holdsDecision(_ value: JSONValue) -> Bool {
        switch value {
        case .object(let members): members.contains { isDecision($0.value, name: $0.name) || holdsDecision($0.value) }
        case .array(let elements): elements.contains { isDecision($0, name: nil) || holdsDecision($0) }
        case .null, .bool, .number, .string: false
        }
    }

    private mutating func keep(_ value: JSONValue, item: String?, at place: JSONPlace) {
        guard decisions.count < Projection.decisionLimit else {
            isCropped = true
            return
        }
        let mode = value["mode"]?.stringValue ?? ""
        var decision = Projection.Decision(
            mode: mode, item: item,
            neutralURL: (value["url"] ?? value.value(at: "/secondary/url"))?.stringValue,
            disclosureVersion: value.value(at: "/primary/disclosureVersion").flatMap(Self.text),
            policyURLs: value["policyUrls"]?.members?.compactMap { $0.value.stringValue } ?? [], place: place,
            offences: DecisionSchema.offences(of: value, at: place, redactor: redactor))
        if mode == DecisionSchema.neutralOnly { findSessionActions(in: value, at: place, of: &decision) }
        decisions.append(decision)
    }

    private static func text(_ value: JSONValue) -> String? {
        if case .number(let text) = value { return text }
        return value.stringValue
    }

    /// A share action under whatever name, at any depth.
    private func findSessionActions(in value: JSONValue, at place: JSONPlace, of decision: inout Projection.Decision) {
        guard decision.sessionActions.count < Projection.detailLimit else { return }
        switch value {
        case .object(let members):
            for member in members {
                let place = place.member(member.name)
                if DecisionSchema.sessionMembers.contains(member.name) {
                    if !decision.sessionActions.contains(place) { decision.sessionActions.append(place) }
                } else {
                    findSessionActions(in: member.value, at: place, of: &decision)
                }
            }
        case .array(let elements):
            for (index, element) in elements.enumerated() {
                findSessionActions(in: element, at: place.element(index), of: &decision)
            }
        case .string(DecisionSchema.shareLabel), .string(DecisionSchema.sessionPath):
            decision.sessionActions.append(place)
        case .null, .bool, .number, .string: return
        }
    }

    // MARK: the walk

    private mutating func walk(
        _ value: JSONValue, item: String?, at place: JSONPlace, name: String?, owner: (JSONPlace, JSONValue)?,
        isIn: Bool
    ) {
        switch value {
        case .object(let members):
            var item = item
            var owner = owner
            if !isIn, let own = Self.itemNames.lazy.compactMap({ value[$0]?.stringValue }).first {
                item = own
                owner = (place, value)
                items.append((place, value))
            }
            var isIn = isIn
            if !isIn, isDecision(value, name: name) {
                keep(value, item: item, at: place)
                if let owner, !items.contains(where: { $0.place == owner.0 }) { items.append(owner) }
                isIn = true
            }
            keepEvidence(of: members, item: item, at: place)
            var names: Set<String> = []
            for member in members {
                let inner = place.member(member.name)
                if !names.insert(member.name).inserted, !duplicates.contains(inner) {
                    if duplicates.count < Projection.detailLimit { duplicates.append(inner) } else { isCropped = true }
                }
                walk(
                    member.value, item: item, at: inner, name: member.name,
                    owner: owner ?? (place, value), isIn: isIn)
            }
        case .array(let elements):
            for (index, element) in elements.enumerated() {
                walk(element, item: item, at: place.element(index), name: nil, owner: owner, isIn: isIn)
            }
        case .string(let text):
            guard text.utf8.count >= 8, text.holds("//") else { return }
            if texts.count < Self.urlLimit { texts.append((text, place)) } else { isCropped = true }
        case .null, .bool, .number: return
        }
    }

    private func parent(of pointer: String) -> String? {
        pointer.lastIndex(of: "/").map { String(pointer[..<$0]) }
    }

    /// The item that an object on the way to `pointer` names, the innermost.
    private func owner(of pointer: String, in value: JSONValue) -> String? {
        var pointer = pointer
        while true {
            if let object = value.value(at: pointer),
                let own = Self.itemNames.lazy.compactMap({ object[$0]?.stringValue }).first
            {
                return own
            }
            guard let outer = parent(of: pointer) else { return nil }
            pointer = outer
        }
    }

    // MARK: evidence

    private static let unsafeWords: Set<String> = [
        "stale", "missing", "unsupported", "expired", "unavailable", "unverified", "outdated", "absent", "invalid",
    ]
    private static let stateNames: Set<String> = ["status", "state", "freshness", "result", "validity"]

    private mutating func keepEvidence(of members: [JSONMember], item: String?, at place: JSONPlace) {
        for member in members {
            let inner = place.member(member.name)
            let name = member.name.lowercased().filter { $0 != "_" && $0 != "-" }
            if member.value == .bool(true), name == "stale" || name == "isstale" || name == "evidencestale" {
                keepMark("stale", item: item, at: inner)
            }
            let isConfigured = fields.evidence.map { inner.text.hasSuffix($0) } ?? false
            guard isConfigured || name.holds("evidence") || name.holds("servicestate") else { continue }
            switch member.value {
            case .string(let word): keepMark(word, item: item, at: inner)
            case .null: keepMark("missing", item: item, at: inner)
            case .object(let states):
                for state in states where Self.stateNames.contains(state.name.lowercased()) {
                    if let word = state.value.stringValue { keepMark(word, item: item, at: inner.member(state.name)) }
                }
            case .bool, .number, .array: continue
            }
        }
    }

    private mutating func keepMark(_ word: String, item: String?, at place: JSONPlace) {
        let word = word.lowercased()
        guard Self.unsafeWords.contains(word) else { return }
        let mark = EvidenceMark(word: word, place: place, item: item)
        guard !evidenceMarks.contains(mark) else { return }
        if evidenceMarks.count < Projection.detailLimit { evidenceMarks.append(mark) } else { isCropped = true }
    }

    // MARK: URLs

    private mutating func keepURLs() {
        var seen: Set<JSONPlace> = []
        let images = items.compactMap { $0.place.following(pointer: fields.image) }
        for (text, place) in texts where seen.insert(place).inserted {
            let decision = decisions.first { place.isWithin($0.place) }
            // Of an answer that no template names, only the decision is known to be the projection's.
            guard matchesTemplate || decision != nil else { continue }
            for url in URLText.all(in: text) {
                urlCount += 1
                let address = WebAddress(url.text)
                let role = address.map { roleOf($0.host) } ?? .thirdParty
                let allowed = decision.map { DecisionSchema.urlPlaces(mode: $0.mode, in: $0.place) } ?? images
                func keep(_ kind: ProjectionURL.Kind) {
                    guard oddURLs.count < Projection.detailLimit else { return isCropped = true }
                    oddURLs.append(
                        ProjectionURL(kind: kind, place: place, host: address?.host, isOnChia: role.isChia))
                }
                if role == .chiaAPI || role == .chiaAssets {
                    keep(.serverHost(role))
                } else if let sign = SignedURL.sign(ofQuery: address?.query) {
                    keep(.signed(sign))
                }
                // Of a decision that is none of the two, nobody knows where its URLs belong.
                if url.isWhole, !allowed.contains(where: place.isWithin),
                    decision.map({ DecisionSchema.modes.contains($0.mode) }) ?? true
                {
                    keep(.unlisted)
                }
            }
        }
    }

    private mutating func keepImages() {
        var seen: Set<JSONPlace> = []
        for item in items {
            guard let place = item.place.following(pointer: fields.image), seen.insert(place).inserted else { continue }
            let title = ["title", "name", "heading"].lazy.compactMap { item.value[$0]?.stringValue }.first ?? ""
            let words = TreatmentWords.telling(in: title)
            for (text, inner) in texts where inner.isWithin(place) {
                guard let address = WebAddress(text) else { continue }
                guard images.count < Projection.detailLimit else {
                    isCropped = true
                    return
                }
                images.append(ProjectionImage(address: address, place: place, titleWords: words))
            }
        }
    }
}
