internal import SessionTrace

/// What captured DNS answers taught: which name leads to which, and which names an address was the answer for.
struct NameTable: Sendable {
    private(set) var aliases: [HostName: [HostName]] = [:]
    private(set) var addresses: [IPAddress: [HostName]] = [:]
    private(set) var isFull = false
    private let limit: Int

    /// Names kept of one address; an address that was the answer for more is shared, and says nothing.
    static let namesOfAddressLimit = 4

    init(limit: Int) {
        self.limit = limit
    }

    /// Learns from a response.
    mutating func learn(_ lookup: NameLookup) {
        guard lookup.isResponse, !lookup.isMulticast, let question = lookup.name else { return }
        for answer in lookup.answers {
            switch answer.data {
            case .alias(let target):
                guard target != answer.name else { continue }
                if aliases[answer.name] == nil, aliases.count >= limit {
                    isFull = true
                } else if !(aliases[answer.name] ?? []).contains(target), (aliases[answer.name] ?? []).count < 8 {
                    aliases[answer.name, default: []].append(target)
                }
            case .address(let address):
                let known = addresses[address] ?? []
                if known.isEmpty, addresses.count >= limit {
                    isFull = true
                } else if !known.contains(question), known.count <= Self.namesOfAddressLimit {
                    addresses[address] = known + [question]
                }
            case .service(let target, _, _):
                guard let target, target != answer.name else { continue }
                if aliases[answer.name] == nil, aliases.count >= limit { isFull = true; continue }
                let known = aliases[answer.name] ?? []
                if known.count < 8, !known.contains(target) { aliases[answer.name] = known + [target] }
            case .other:
                continue
            }
        }
    }

    /// The one name that an address was the answer for; nil when there is none, or more than one.
    func name(of address: IPAddress) -> HostName? {
        guard let names = addresses[address], names.count == 1 else { return nil }
        return names[0]
    }

    /// All names that an address was the answer for.
    func names(of address: IPAddress) -> [HostName] { addresses[address] ?? [] }
}
