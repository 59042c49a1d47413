internal import SessionTrace

/// The handoff tokens of a set of traces, taught to a scanner once for all of them.
///
/// Teaching a scanner is dear, and a set of n traces has n tokens: with a scanner of its own for each trace the set would
/// cost n². A trace that is searched with these gets a copy of the one scanner; `SessionJudge.foreignTokensSeen` then says
/// which of them it holds, and it is judged again for those alone (`JudgeOptions.foreignTokens`).
public struct ForeignTokens: Sendable {
    let scanner: LeakScanner
    let needles: NeedleBook
    /// By the number of the needle.
    let tokens: [Int: Secret]

    /// Teaches the tokens to a scanner that knows the digest keys of a policy.
    public init(_ tokens: [Secret], digestKeys: [String], installationKey: [UInt8]) {
        var scanner = LeakScanner(
            redactor: Redactor(installationKey: installationKey), digestKeys: digestKeys.map { Secret($0) })
        var needles = NeedleBook()
        var numbered: [Int: Secret] = [:]
        for token in tokens {
            guard let needle = needles.add(.token, String(decoding: token.bytes, as: UTF8.self)) else { continue }
            scanner.learn(needle: needle, isNested: false)
            numbered[needle.number] = token
        }
        self.scanner = scanner
        self.needles = needles
        self.tokens = numbered
    }
}

extension SessionModel {
    /// Remembers which of the other traces' tokens a search found.
    mutating func noted(_ result: ScanResult) -> ScanResult {
        guard let foreign else { return result }
        let found = (result.hits + result.hints).compactMap(\.needle?.number) + result.pieces.map(\.needle.number)
        for number in found where foreign.tokens[number] != nil { foreignSeen.insert(number) }
        return result
    }
}
