public import SessionTrace

/// Keys at the terminal as marks by a person: press, then touch.
///
/// | key | mark |
/// |---|---|
/// | `c` | tap on the call to action |
/// | `t` | tap on "Share selection and continue" |
/// | `d` | double tap there |
/// | `n` | tap on "Continue without sharing" |
/// | `b`, `f` | the app goes to the background, comes to the foreground |
/// | `r` | the return link |
/// | `u` | takes the last mark back |
/// | `q`, Ctrl-C, Ctrl-D | stop |
public struct MarkKeys: Sendable {
    /// What a key does.
    public enum Action: Hashable, Sendable {
        /// Record this mark.
        case mark(Mark)
        /// Record this mark, which takes `of` back.
        case withdraw(Mark, of: Mark)
        /// There is no mark to take back.
        case nothingToWithdraw
        /// End the recording.
        case stop
        /// Show what the keys do.
        case help
        /// The key means nothing, or repeats because it is held down.
        case none
    }

    /// A key that comes again within this time is held down: nobody arms the same tap twice that fast. Nanoseconds.
    static let heldKeyNanoseconds: Int64 = 700_000_000
    /// What follows an escape within this time belongs to it (cursor keys, Alt). Nanoseconds.
    static let escapeNanoseconds: Int64 = 50_000_000
    /// Most marks that can be taken back one after another.
    static let historyLimit = 64

    private enum State {
        case plain
        /// An escape came, at this time.
        case escape(Instant)
        /// Inside a control sequence (ECMA-48 §5.4), until its final byte.
        case sequence
    }

    private let idPrefix: String
    private var state = State.plain
    private var counter = 0
    private var history: [Mark] = []
    private var latest: (key: UInt8, at: Instant)?

    /// Keys whose marks have ids that begin with `idPrefix`: the run's own, as equal ids with other content contradict.
    public init(idPrefix: String) {
        self.idPrefix = idPrefix
    }

    /// One line: what the keys do.
    public static let help =
        "press, then touch: t share · d share twice · n without sharing · c call to action · "
        + "b background · f foreground · r return · u take back · q stop"

    /// Takes a byte of the terminal's input.
    public mutating func press(_ key: UInt8, at now: Instant) -> Action {
        switch state {
        case .escape(let began) where now.nanoseconds(since: began) <= Self.escapeNanoseconds:
            state = key == UInt8(ascii: "[") || key == UInt8(ascii: "O") ? .sequence : .plain
            return .none
        case .sequence:
            if (0x40...0x7E).contains(key) { state = .plain }
            return .none
        case .escape, .plain:
            state = .plain
        }
        if key == 0x1B {
            state = .escape(now)
            return .none
        }
        let isHeld = latest.map { $0.key == key && now.nanoseconds(since: $0.at) <= Self.heldKeyNanoseconds } ?? false
        latest = (key, now)
        switch key {
        case UInt8(ascii: "q"), UInt8(ascii: "Q"), 0x03, 0x04: return .stop
        case UInt8(ascii: "?"), UInt8(ascii: "h"): return .help
        case UInt8(ascii: "u") where !isHeld: return withdraw(at: now)
        default: return isHeld ? .none : mark(for: key, at: now).map(Action.mark) ?? .none
        }
    }

    private mutating func mark(for key: UInt8, at now: Instant) -> Mark? {
        let mark: Mark
        switch key {
        case UInt8(ascii: "t"): mark = made(.tap, .share, at: now)
        case UInt8(ascii: "d"): mark = made(.tap, .share, count: 2, at: now)
        case UInt8(ascii: "n"): mark = made(.tap, .neutral, at: now)
        case UInt8(ascii: "c"): mark = made(.tap, .cta, at: now)
        case UInt8(ascii: "b"): mark = made(.background, at: now)
        case UInt8(ascii: "f"): mark = made(.foreground, at: now)
        case UInt8(ascii: "r"): mark = made(.return, at: now)
        default: return nil
        }
        history.append(mark)
        if history.count > Self.historyLimit { history.removeFirst() }
        return mark
    }

    private mutating func withdraw(at now: Instant) -> Action {
        guard let last = history.popLast() else { return .nothingToWithdraw }
        var mark = made(.withdraw, at: now)
        mark.attributes["id"] = last.id
        return .withdraw(mark, of: last)
    }

    private mutating func made(
        _ kind: Mark.Kind, _ target: Mark.Target? = nil, count: Int = 1, at now: Instant
    ) -> Mark {
        counter += 1
        return Mark(
            id: "\(idPrefix)-key-\(counter)", kind: kind, target: target, span: TimeSpan(now), isOnTraceClock: true,
            count: count, by: .person, source: .control)
    }
}
