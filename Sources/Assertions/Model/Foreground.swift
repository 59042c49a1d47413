internal import SessionTrace

/// A moment at which the app came to the front again, or a view of it was restored.
struct Foreground: Hashable, Sendable {
    /// What is known of the screen at that moment.
    enum Screen: Hashable, Sendable {
        /// A view of an item, with its id where something tells it.
        case item(String?)
        /// Something else; why, in words.
        case other(String)
    }

    var mark: Mark
    var screen: Screen
    /// Whether a handoff had begun before: an action tap, a session request, or a page of Chia in the browser.
    var isAfterHandoff: Bool
    /// The next mark after which what the app sends has another cause: a tap, or the app left again.
    var next: Mark?
    /// The next mark by which the app was left: the same without taps.
    var left: Mark?
}

/// Marks and projections to moments of coming back.
struct ForegroundFinder {
    /// A return link brings the app to the front: the two marks are this close together, in either order.
    static let returnWindow = Nanoseconds.seconds(2)

    private enum Event {
        case mark(Mark)
        case projection(String?)
    }

    /// The first moments, up to a limit, in order of time. `handoffs` are the moments at which a handoff may have begun.
    static func foregrounds(
        marks: [Mark], projections: [Projection], handoffs: [Instant], limit: Int
    ) -> [Foreground] {
        let firstHandoff = handoffs.min() ?? .distantFuture
        let returns = marks.filter { $0.kind == .return }.map(\.span.earliest)
        var timeline: [(time: Instant, event: Event)] = marks.map { ($0.span.earliest, .mark($0)) }
        timeline += projections.filter { $0.isComplete && !$0.record.actor.actor.isElsewhere }
            .map { ($0.record.ended.time, .projection($0.item ?? $0.decisions.first?.item)) }
        timeline.sort { $0.time < $1.time }
        var screen: Foreground.Screen?
        var found: [Foreground] = []
        var open: [Int] = []
        var present: [Int] = []
        for (time, event) in timeline {
            guard case .mark(let mark) = event else {
                if case .projection(let item) = event { screen = .item(item) }
                continue
            }
            if let index = open.last, isAnotherWord(mark, for: found[index]) { continue }
            if Foreground.ends.contains(mark.kind) {
                for index in open { found[index].next = mark }
                open = []
                if mark.kind != .tap {
                    for index in present { found[index].left = mark }
                    present = []
                }
            }
            switch mark.kind {
            case .launch, .kill: screen = nil
            case .return: screen = .other("the generic return link led home")
            case .render: screen = .item(item(of: mark))
            case .tap where mark.target == .cta: screen = .item(item(of: mark) ?? item(of: screen))
            case .foreground, .restore:
                // A system may start an app ahead of time, without anybody seeing it.
                guard mark.attributes["prewarm"] != "true", found.count < limit else { continue }
                let next = returns.partitioningIndex { $0 >= time }
                let leadsHome = next < returns.count && returns[next].nanoseconds(since: time) <= returnWindow.count
                open.append(found.count)
                present.append(found.count)
                found.append(
                    Foreground(
                        mark: mark, screen: Self.screen(mark, screen, leadsHome: leadsHome),
                        isAfterHandoff: firstHandoff <= time))
            default: continue
            }
        }
        return found
    }

    /// Whether a mark tells of a coming back that is marked already: by the view and by the app, or by two sources.
    private static func isAnotherWord(_ mark: Mark, for known: Foreground) -> Bool {
        guard mark.kind == .foreground || mark.kind == .restore, item(of: mark) == nil,
            mark.attributes["screen"] == nil,
            mark.span.earliest.nanoseconds(since: known.mark.span.earliest) <= returnWindow.count
        else { return false }
        // A view that is restored is one where nothing was known of any.
        if case .other = known.screen { return mark.kind == .foreground }
        return true
    }

    /// What the mark itself says of the screen counts most.
    private static func screen(_ mark: Mark, _ known: Foreground.Screen?, leadsHome: Bool) -> Foreground.Screen {
        if let item = item(of: mark) { return .item(item) }
        if let word = mark.attributes["screen"] {
            return word == "item" ? .item(item(of: known)) : .other("the mark says that another screen was shown")
        }
        if leadsHome { return .other("the generic return link led home") }
        if let known { return known }
        return mark.kind == .restore ? .item(nil) : .other("no item had been on the screen")
    }

    private static func item(of mark: Mark) -> String? { mark.attributes["item"] ?? mark.attributes["catalogId"] }

    private static func item(of screen: Foreground.Screen?) -> String? {
        if case .item(let item) = screen { return item }
        return nil
    }
}

extension Session {
    /// How often the app came to the front, by its marks: more than `foregrounds` where their table was full.
    var foregroundMarks: Int {
        marks([.foreground, .restore]).count { $0.attributes["prewarm"] != "true" }
    }
}

extension Foreground {
    /// Marks after which what the app sends has another cause.
    static let ends: Set<Mark.Kind> = [
        .tap, .background, .foreground, .restore, .kill, .launch, .return, .linkOpened, .opened,
    ]
}

extension Actor {
    /// Known to be neither the app nor a view in it.
    var isElsewhere: Bool { self == .browser || self == .os }
}
