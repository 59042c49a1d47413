import HandoffProxy
import SessionTrace
import Testing

@Suite struct MarkKeysTests {
    /// Presses keys a second apart.
    private static func press(_ keys: String, apart nanoseconds: Int64 = 1_000_000_000) -> [MarkKeys.Action] {
        var machine = MarkKeys(idPrefix: "run")
        return keys.utf8.enumerated().map { index, key in
            machine.press(key, at: Instant(nanoseconds: Int64(index) * nanoseconds))
        }
    }

    private static func marks(_ actions: [MarkKeys.Action]) -> [Mark] {
        actions.compactMap { action in
            switch action {
            case .mark(let mark), .withdraw(let mark, of: _): mark
            case .nothingToWithdraw, .stop, .help, .none: nil
            }
        }
    }

    @Test func eachKeyArmsItsMark() {
        let marks = Self.marks(Self.press("tdncbfr"))
        #expect(
            marks.map { "\($0.kind.rawValue) \($0.target?.rawValue ?? "-") \($0.count)" } == [
                "tap share 1", "tap share 2", "tap neutral 1", "tap cta 1", "background - 1", "foreground - 1",
                "return - 1",
            ])
        #expect(marks.allSatisfy { $0.by == .person && $0.isOnTraceClock })
        #expect(Set(marks.map(\.id)).count == 7)
        #expect(marks[1].span == TimeSpan(Instant(nanoseconds: 1_000_000_000)))
    }

    @Test func takesBackOneAfterAnother() {
        let actions = Self.press("tnuuu")
        let marks = Self.marks(actions)
        #expect(marks.map(\.kind) == [.tap, .tap, .withdraw, .withdraw])
        #expect(marks[2].attributes["id"] == marks[1].id)
        #expect(marks[3].attributes["id"] == marks[0].id)
        #expect(actions.last == .nothingToWithdraw)
    }

    @Test func aHeldKeyIsOnePress() {
        #expect(Self.marks(Self.press("tttttttt", apart: 300_000_000)).count == 1)
        #expect(Self.marks(Self.press("ttt", apart: 800_000_000)).count == 3)
        #expect(Self.marks(Self.press("tntn", apart: 300_000_000)).count == 4)
        // A held u takes one back.
        #expect(Self.marks(Self.press("tnuuu", apart: 300_000_000)).count == 3)
    }

    @Test func cursorKeysAndAltMeanNothing() {
        let cursor = Self.press("\u{1B}[D\u{1B}Ob\u{1B}[1;5c\u{1B}tn", apart: 1_000)
        #expect(Self.marks(cursor).map(\.target) == [.neutral])
        // An escape by itself takes nothing along.
        #expect(Self.marks(Self.press("\u{1B}t", apart: 1_000_000_000)).count == 1)
    }

    @Test func stopsAndHelps() {
        #expect(Self.press("q") == [.stop] && Self.press("\u{3}") == [.stop] && Self.press("\u{4}") == [.stop])
        #expect(Self.press("?") == [.help])
        #expect(Self.press("x\u{0}\u{7F}é").allSatisfy { $0 == .none })
    }

    @Test func memoryIsBounded() {
        var machine = MarkKeys(idPrefix: "run")
        for index in Int64(0)..<100 {
            _ = machine.press(UInt8(ascii: "t"), at: Instant(nanoseconds: index * 1_000_000_000))
        }
        var withdrawn = 0
        for index in Int64(100)..<300 {
            if case .withdraw = machine.press(UInt8(ascii: "u"), at: Instant(nanoseconds: index * 1_000_000_000)) {
                withdrawn += 1
            }
        }
        #expect(withdrawn == 64)
    }
}
