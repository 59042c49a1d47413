internal import SessionTrace

/// The connections that are open, by identifier.
///
/// Each has memory of its own. In a table of whole flows, room that nobody takes costs a kilobyte a place, and a copy of the
/// judge, which is finished while the session goes on, would copy it all at the next change.
struct OpenFlows: Sendable {
    private indirect enum Kept: Sendable {
        case flow(Flow)

        var flow: Flow {
            switch self {
            case .flow(let flow): flow
            }
        }
    }

    private var kept: [ConnectionID: Kept] = [:]

    var count: Int { kept.count }

    /// Those that are open, in order.
    var ids: [ConnectionID] { kept.keys.sorted() }

    subscript(id: ConnectionID) -> Flow? {
        get { kept[id]?.flow }
        set { kept[id] = newValue.map { .flow($0) } }
    }

    /// Takes one out that is open no more.
    mutating func remove(_ id: ConnectionID) -> Flow? {
        kept.removeValue(forKey: id)?.flow
    }
}
