internal import SessionTrace

/// What is kept of the head of a request by which a page was opened: who opened it, by its own words, and whatever else
/// the request carried. Kept for openings of Chia's pages and of neutral URLs alone.
struct RequestHead: Hashable, Sendable {
    /// Names of all fields in the order in which they were sent, in lower case, pseudo-header fields included.
    var fieldNames: [String] = []
    /// Whether there were more fields than are kept.
    var isCut = false
    /// Host and port as they were sent: HTTP/2's `:authority`, or `Host`.
    var authority = ""
    var userAgent = ""
    /// `X-Requested-With`, by which a web view names its app's package.
    var requestedWith: String?
    /// The brands of `Sec-CH-UA`.
    var brands: [String] = []
    /// `Sec-CH-UA-Platform`, without its quotes.
    var platform: String?
    /// Cookies as `name=digest`, the value's digest keyed per installation.
    var cookies: [String] = []
    /// The program that `Referer: android-app://…` names.
    var referringProgram: String?
    /// Whether `Sec-Fetch-User` says that a person's act in the browser started it.
    var isUserActivated = false
    /// The process of the connection, as the capture or another source says.
    var process: ProcessIdentity?
    /// JA4 of the connection's ClientHello.
    var ja4: String?
    /// The port of the listener that the device talked to.
    var listenerPort: UInt16 = 0

    /// Field names kept of one request.
    static let nameLimit = 64
    /// Bytes kept of one text.
    static let textLimit = 512
    /// Cookies, and brands, kept of one request.
    static let itemLimit = 32

    /// The scheme by which Android's browsers tell which program handed them an address.
    static let programScheme = "android-app://"

    init(_ request: Request, flow: Flow?, isWithheld: Bool, redactor: Redactor) {
        let fields = request.fields
        fieldNames = fields.fields.prefix(Self.nameLimit).filter(\.isKnown).map { fields.name($0).lowercased() }
        isCut = fields.fields.count > Self.nameLimit
        authority = Self.cut(request.authority ?? "")
        userAgent = Self.cut(fields.first("user-agent") ?? "")
        requestedWith = fields.first("x-requested-with").map(Self.cut)
        brands = Array(fields.values("sec-ch-ua").flatMap(Self.brands).prefix(Self.itemLimit))
        platform = fields.first("sec-ch-ua-platform").map { Self.cut($0.filter { $0 != "\"" }) }
        let pairs = fields.values("cookie").flatMap { $0.split(separator: ";") }.prefix(Self.itemLimit)
        cookies = pairs.map { Self.cookie($0, isDigested: isWithheld, redactor) }
        referringProgram = fields.first("referer").flatMap(Self.program)
        isUserActivated = fields.first("sec-fetch-user") == "?1"
        process = flow?.connection.process
        ja4 = flow?.ja4
        listenerPort = flow?.connection.server.port ?? 0
    }

    /// Real fields, without HTTP/2's pseudo-header fields.
    var headerNames: [String] { fieldNames.filter { !$0.hasPrefix(":") } }

    /// HTTP/2's pseudo-header fields in order, a letter each: `masp`; nil in HTTP/1.
    var pseudoHeaderOrder: String? {
        let letters = fieldNames.filter { $0.hasPrefix(":") }.compactMap { $0.dropFirst().first }
        return letters.count >= 4 ? String(letters.prefix(4)) : nil
    }

    /// `name=digest` of one cookie. What a withheld journey kept is digested already.
    static func cookie(_ pair: Substring, isDigested: Bool, _ redactor: Redactor) -> String {
        let name = pair.prefix { $0 != "=" }.filter { $0 != " " }
        let value = pair[pair.prefix { $0 != "=" }.endIndex...].dropFirst()
        return "\(redactor.name(name.prefix(64)))=\(isDigested ? String(value) : redactor.digest(String(value)))"
    }

    /// The package of `android-app://PACKAGE/…`.
    static func program(_ referer: String) -> String? {
        guard referer.hasPrefix(programScheme) else { return nil }
        let name = referer.dropFirst(programScheme.utf8.count).prefix { $0 != "/" }.prefix(200)
        return name.isEmpty ? nil : String(name)
    }

    /// `"Chromium";v="140", "Google Chrome";v="140"` to its names.
    private static func brands(_ value: String) -> [String] {
        let pieces = value.split(separator: "\"", omittingEmptySubsequences: false)
        return pieces.enumerated().compactMap { index, piece in
            // Quoted pieces alternate: a brand, its version, a brand …
            index % 4 == 1 && !piece.isEmpty ? cut(String(piece)) : nil
        }
    }

    private static func cut(_ text: String) -> String {
        text.utf8.count <= textLimit ? text : String(decoding: text.utf8.prefix(textLimit), as: UTF8.self)
    }
}
