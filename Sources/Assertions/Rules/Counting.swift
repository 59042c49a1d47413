/// A count with its noun in the right number: `1 tap`, `2 taps`.
func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
