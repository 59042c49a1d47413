internal import SessionTrace

/// What a request's body looks like, without the body: enough for rules about what kind of thing was sent.
struct BodyFacts: Hashable, Sendable {
    /// What the content is, by its media type and by its first bytes.
    enum Kind: UInt8, Hashable, Sendable {
        case none, json, form, text, image, video, replay, binary
    }

    /// Content bytes on the wire, kept or not, before content codings are undone.
    var bytes = 0
    /// The media type without its parameters, lower case; empty when none was given.
    var mediaType = ""
    var kind = Kind.none
    /// What was looked at, as a hash: equal for equal content.
    var hash: ContentHash?
    /// Names of members (at any depth) of a JSON text, or of the fields of a form, sorted, each once.
    var keys: [String] = []
    /// Whether all of the content was looked at for `keys`, and every name was kept.
    var keysAreAll = true

    /// Bytes that are looked at.
    static let limit = 64 << 10
    /// Names that are kept, and bytes of one.
    static let keyLimit = 128
    static let keyLength = 64

    /// No body.
    static let none = BodyFacts()

    private init() {}

    /// The size and media type alone, of a body that is not looked at.
    init(sizeOf request: Request) {
        bytes = request.body.length
        guard bytes > 0 else { return }
        mediaType = Self.mediaType(request.fields)
        keysAreAll = false
        kind = mediaType.hasPrefix("image/") ? .image : mediaType.hasPrefix("video/") ? .video : .binary
    }

    /// Reads `content`, the first bytes of the body of `request` with its content codings undone.
    init(_ request: Request, content: [UInt8]) {
        bytes = request.body.length
        guard bytes > 0 else { return }
        mediaType = Self.mediaType(request.fields)
        let isWhole = request.body.isWhole && content.count < Self.limit
        content.withUnsafeBytes { bytes in
            hash = ContentHash(bytes)
            kind = Self.kind(of: bytes, mediaType)
            switch kind {
            case .json:
                var outline = JSONOutline()
                outline.read(bytes)
                take(outline.names, areAll: outline.areAll && isWhole)
                if outline.holdsReplay || Self.isReplay(outline.names) {
                    kind = .replay
                } else if let picture = outline.picture {
                    kind = picture
                }
            case .form:
                take(Self.formNames(bytes), areAll: isWhole)
            case .none, .text, .image, .video, .replay, .binary:
                return
            }
        }
    }

    private mutating func take(_ names: Set<String>, areAll: Bool) {
        keys = names.sorted()
        keysAreAll = areAll && keys.count < Self.keyLimit
    }

    /// The type of the content, without parameters.
    static func mediaType(_ fields: FieldSection) -> String {
        guard let field = fields.fields.first(where: { $0.isKnown && fields.hasName($0, "content-type") }) else {
            return ""
        }
        let value = fields.valueBytes(field).prefix { $0 != 0x3B }.prefix(80)
        return String(decoding: value, as: UTF8.self).lowercased().filter { $0 != " " }
    }

    // MARK: kinds

    private static func kind(of bytes: UnsafeRawBufferPointer, _ mediaType: String) -> Kind {
        if mediaType.hasPrefix("image/") { return .image }
        if mediaType.hasPrefix("video/") { return .video }
        if let picture = picture(bytes) { return picture }
        guard let first = bytes.first(where: { $0 > 0x20 }) else { return .none }
        if first == 0x7B || first == 0x5B { return .json }
        if mediaType.hasPrefix("multipart/"), let picture = enclosedPicture(bytes) { return picture }
        if mediaType.hasSuffix("x-www-form-urlencoded") { return .form }
        // Control characters are none that a text holds.
        let isText = !bytes.prefix(512).contains { $0 < 0x09 || (0x0E...0x1F).contains($0) }
        if !isText { return .binary }
        let isOneWord = !bytes.prefix(512).contains { $0 <= 0x20 }
        return mediaType.isEmpty && isOneWord && bytes.prefix(512).contains(0x3D) ? .form : .text
    }

    /// A picture or film by its first bytes.
    private static func picture(_ bytes: UnsafeRawBufferPointer) -> Kind? {
        if bytes.starts(with: [0xFF, 0xD8, 0xFF]) || bytes.starts(with: [0x89, 0x50, 0x4E, 0x47]) { return .image }
        if bytes.starts(with: Array("GIF8".utf8)) { return .image }
        guard bytes.count >= 12 else { return nil }
        let brand = bytes[8..<12]
        if bytes.starts(with: Array("RIFF".utf8)) { return brand.elementsEqual("WEBP".utf8) ? .image : .video }
        guard bytes[4..<8].elementsEqual("ftyp".utf8) else { return nil }
        let pictures = ["heic", "heix", "mif1", "avif"]
        return pictures.contains { brand.elementsEqual($0.utf8) } ? .image : .video
    }

    /// A picture or film in a part of a form.
    private static func enclosedPicture(_ bytes: UnsafeRawBufferPointer) -> Kind? {
        let lower = bytes.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
        func holds(_ text: StaticString) -> Bool { MessageContent.contains(lower, text) }
        if holds("content-type: video/") { return .video }
        return holds("content-type: image/") ? .image : nil
    }

    /// Whether the names are those of rrweb's events: a type, a time and what changed on the page.
    private static func isReplay(_ names: Set<String>) -> Bool {
        guard names.isSuperset(of: ["type", "data", "timestamp"]) else { return false }
        return names.isSuperset(of: ["adds", "removes"]) || names.contains("childNodes")
            || names.isSuperset(of: ["source", "positions"]) || names.isSuperset(of: ["href", "width", "height"])
    }

    // MARK: forms

    private static func formNames(_ bytes: UnsafeRawBufferPointer) -> Set<String> {
        var names: Set<String> = []
        for pair in bytes.prefix(limit).split(separator: 0x26) where names.count < keyLimit {
            let name = pair.prefix { $0 != 0x3D }
            if !name.isEmpty, name.count <= keyLength { names.insert(String(decoding: name, as: UTF8.self)) }
        }
        return names
    }
}

/// What the strings of a JSON text, or of a sequence of them, tell by their beginnings, found in one pass that keeps no
/// value. Lenient: a name is a string that a colon follows.
struct JSONOutline {
    /// Names of members, at any depth.
    private(set) var names: Set<String> = []
    /// Whether every name was kept.
    private(set) var areAll = true
    /// Set when a string is a picture or film in base64.
    private(set) var picture: BodyFacts.Kind?
    /// Whether a name or a string is one that recorders of screens use.
    private(set) var holdsReplay = false

    /// `data:` addresses, and the first bytes of JPEG, PNG and WebP.
    private static let pictureSigns: [[UInt8]] = ["data:image/", "/9j/", "iVBORw0KGgo", "UklGR"].map { Array($0.utf8) }
    private static let filmSign = Array("data:video/".utf8)
    private static let replaySigns = ["rrweb", "$snapshot", "replay_recording", "replay_event"].map { Array($0.utf8) }
    /// A picture of something takes more bytes than this in base64.
    static let smallestPicture = 1_024

    mutating func read(_ bytes: UnsafeRawBufferPointer) {
        var index = 0
        while let quote = ByteSearch.first(0x22, in: bytes, from: index) {
            var end = quote + 1
            while end < bytes.count, bytes[end] != 0x22 { end += bytes[end] == 0x5C ? 2 : 1 }
            let text = bytes[quote + 1..<min(end, bytes.count)]
            look(at: text)
            guard end < bytes.count else { return areAll = false }
            var next = end + 1
            while next < bytes.count, bytes[next] <= 0x20 { next += 1 }
            if next < bytes.count, bytes[next] == 0x3A { take(text) }
            index = next
        }
    }

    private mutating func look(at text: Slice<UnsafeRawBufferPointer>) {
        guard let first = text.first else { return }
        if first == 0x72 || first == 0x24, Self.replaySigns.contains(where: { text.starts(with: $0) }) {
            holdsReplay = true
        }
        guard text.count >= Self.smallestPicture, picture == nil else { return }
        if text.starts(with: Self.filmSign) { picture = .video }
        if Self.pictureSigns.contains(where: { text.starts(with: $0) }) { picture = .image }
    }

    private mutating func take(_ name: Slice<UnsafeRawBufferPointer>) {
        guard name.count <= BodyFacts.keyLength, names.count < BodyFacts.keyLimit else {
            areAll = false
            return
        }
        names.insert(String(decoding: name, as: UTF8.self))
    }
}
