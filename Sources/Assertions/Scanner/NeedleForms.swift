#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The parts of a needle that are searched for.
struct NeedleForms {
    /// Values shorter than this are not searched (RULES 2.3).
    static let shortest = 8
    /// Values with fewer bits of estimated entropy are not searched.
    static let leastBits = 40.0

    /// Form and value, without those that say too little.
    var forms: [(form: NeedleForm, bytes: [UInt8])]
    /// What digests are made of: the forms and their usual variants.
    var digested: [(form: NeedleForm, bytes: [UInt8])]
    /// What a hit of any form stands for: the token if there is one, else the value.
    var essence: [UInt8]

    init(of needle: Needle) {
        let value = needle.value.bytes
        var forms: [(NeedleForm, [UInt8])] = []
        switch needle.kind {
        case .handoffURL, .neutralURL:
            let token = Self.token(in: value)
            essence = token ?? value
            // A part of the URL without the token may be the neutral URL's or public.
            for (form, part) in Self.urlParts(value) where token.map({ Self.contains(part, $0) }) ?? true {
                // Without its query a neutral URL is everybody's: what it says of a selection is in the query.
                if needle.kind == .neutralURL, token == nil, Self.lacksQuery(part, of: value) { continue }
                forms.append((form, part))
            }
            if let token { forms += Self.tokenForms(token) }
        case .token:
            essence = value
            forms = Self.tokenForms(value)
        case .catalogID, .disclosureVersion, .idempotencyKey, .sessionIdentifier, .canary, .cookie, .secret:
            essence = value
            forms = [(.value, value)]
        }
        self.forms = forms.filter { Self.isTelling($0.1) }
        var seen: Set<[UInt8]> = []
        digested = self.forms.flatMap { form, bytes in Self.variants(of: bytes, form).map { (form, $0) } }
            .filter { seen.insert($0.1).inserted }
    }

    /// What software hashes when it means a value: as it is, trimmed of its case, with a slash at the end.
    private static func variants(of value: [UInt8], _ form: NeedleForm) -> [[UInt8]] {
        switch form {
        case .url: [value, value.map(ByteClass.lower), value + [0x2F]]
        case .token: [value, value.map(ByteClass.lower)]
        case .value: [value, value.map(ByteClass.lower), value.map(upper)]
        case .withoutScheme, .hostAndPath, .path, .tokenBody: [value]
        }
    }

    private static func upper(_ byte: UInt8) -> UInt8 { byte &- 0x61 < 26 ? byte & 0xDF : byte }

    /// Long and varied enough that finding it means something.
    static func isTelling(_ value: [UInt8]) -> Bool {
        guard value.count >= shortest else { return false }
        var seen = [Bool](repeating: false, count: 256)
        for byte in value { seen[Int(byte)] = true }
        let distinct = Double(seen.count { $0 })
        var alphabet = 0.0
        if value.contains(where: { (0x30...0x39).contains($0) }) { alphabet += 10 }
        if value.contains(where: { (0x61...0x7A).contains($0) }) { alphabet += 26 }
        if value.contains(where: { (0x41...0x5A).contains($0) }) { alphabet += 26 }
        if value.contains(where: { !TokenShape.isTokenByte($0) || $0 == 0x2D || $0 == 0x5F }) { alphabet += 8 }
        // Few different bytes bound what the alphabet promises.
        return Double(value.count) * min(log2(max(alphabet, 2)), log2(distinct) + 2) >= leastBits
    }

    private static func tokenForms(_ token: [UInt8]) -> [(NeedleForm, [UInt8])] {
        guard token.starts(with: TokenShape.prefix) else { return [(.token, token)] }
        return [(.token, token), (.tokenBody, Array(token.dropFirst(TokenShape.prefix.count)))]
    }

    /// `phs_` and what follows of the token's alphabet, however long.
    private static func token(in url: [UInt8]) -> [UInt8]? {
        if let shaped = TokenShape.first(in: url) { return shaped.bytes }
        guard url.count > TokenShape.prefix.count else { return nil }
        for start in 0..<url.count - TokenShape.prefix.count
        where url[start...].starts(with: TokenShape.prefix) {
            return Array(url[start...].prefix(while: TokenShape.isTokenByte))
        }
        return nil
    }

    private static func urlParts(_ url: [UInt8]) -> [(NeedleForm, [UInt8])] {
        let withoutFragment = Array(url.prefix { $0 != 0x23 })
        guard let separator = firstIndex(of: [0x3A, 0x2F, 0x2F], in: withoutFragment) else {
            return [(.value, withoutFragment)]
        }
        let rest = Array(withoutFragment[(separator + 3)...])
        var parts: [(NeedleForm, [UInt8])] = [(.url, withoutFragment), (.withoutScheme, rest)]
        parts.append((.hostAndPath, Array(rest.prefix { $0 != 0x3F })))
        if let slash = rest.firstIndex(of: 0x2F) { parts.append((.path, Array(rest[slash...]))) }
        var seen: Set<[UInt8]> = []
        return parts.filter { seen.insert($0.1).inserted }
    }

    /// Whether a URL has a query and this part of it has none.
    private static func lacksQuery(_ part: [UInt8], of url: [UInt8]) -> Bool {
        url.prefix { $0 != 0x23 }.contains(0x3F) && !part.contains(0x3F)
    }

    private static func contains(_ bytes: [UInt8], _ part: [UInt8]) -> Bool {
        firstIndex(of: part, in: bytes) != nil
    }

    private static func firstIndex(of part: [UInt8], in bytes: [UInt8]) -> Int? {
        guard bytes.count >= part.count else { return nil }
        return (0...bytes.count - part.count).first { bytes[$0..<$0 + part.count].elementsEqual(part) }
    }
}
