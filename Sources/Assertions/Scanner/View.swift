internal import SessionTrace

/// A stretch of bytes that is looked into: part of a message as sent, or what a decoding made of a part of another view.
struct View {
    /// How it came about.
    enum Step: Hashable {
        /// A message head: places one after another, with a separator between them.
        case head
        /// A body or other stretch as sent, under this location.
        case root(String)
        /// Content codings undone, in the order of undoing.
        case codings([String])
        case base64, base64url, base32, base32hex, base58, hex
        /// An encoding that marks some characters of a text, undone over all of it.
        case inline(TextDecoding.Inline)
        /// A value that a container of this kind had cut into chunks.
        case container(String)
        /// The content of a multipart part without its quoted-printable.
        case part
        /// The same over one run of text among other bytes.
        case inlineRun(TextDecoding.Inline)
        /// Text of two bytes a character.
        case utf16(isBigEndian: Bool)
        /// A run of letters moved by 13 places, or turned round.
        case rot13, reversed
        /// Numbers that are a byte each.
        case codes
        /// A quoted string without its backslash escapes.
        case string

        /// Whether it undoes some characters of a text and leaves the others.
        var isInline: Bool {
            switch self {
            case .inline, .inlineRun: true
            default: false
            }
        }

        /// Whether it undoes percent-encoding.
        var isPercent: Bool { self == .inline(.percent) || self == .inlineRun(.percent) }

        /// Whether it undoes an encoding, rather than reading what a format says anyway.
        var isDecoding: Bool {
            switch self {
            case .string, .container, .part, .head, .root: false
            default: true
            }
        }
    }

    /// Where it comes from.
    struct Origin {
        /// The view it was made from; −1 for roots.
        var parent: Int
        /// Where in its parent the encoded form begins.
        var sourceOffset: Int
        var step: Step
    }

    /// How the token's shape is looked for.
    enum ShapeSearch {
        /// As it is written.
        case exact
        /// In any case: host names.
        case anyCase
        /// Not at all: joined labels, where what follows a value would pass for its rest.
        case none
    }

    var bytes: [UInt8]
    /// First the origin by which it was found, then others that gave the same bytes.
    var origins: [Origin]
    /// Decodings between it and the message.
    var depth: Int
    /// How the token's shape is looked for here.
    var shapes: ShapeSearch
    /// Whether it was searched before it was queued, and no pattern matched.
    var isSearched = false
    /// How many times percent-encoding was undone on the way to it: twice counts as one decoding.
    var percents = 0

    var step: Step { origins[0].step }
}

/// Assembles the head of a message into one stretch of bytes with a separator between the places, so that one pass scans it, and
/// names the places when something was found.
enum MessageHead {
    /// The byte between two places, which no field value may hold. NUL is none: text of two bytes a character would begin or end
    /// with it.
    static let separator: UInt8 = 0x1F

    /// Appends a request's line, header fields and trailers to `bytes`; with `places`, says what stands where.
    static func append(_ request: Request, to bytes: inout [UInt8], places: inout FieldPlaces?) {
        let target = Array(request.target.utf8)
        if request.method == "CONNECT" {
            add(target[...], "connect-target", to: &bytes, places: &places)
        } else {
            appendTarget(target, to: &bytes, places: &places)
        }
        append(request.fields, prefix: "header", except: target, to: &bytes, places: &places)
        append(request.trailers, prefix: "trailer", except: nil, to: &bytes, places: &places)
    }

    /// Appends a response's header fields and trailers.
    static func append(_ response: Response, to bytes: inout [UInt8], places: inout FieldPlaces?) {
        append(response.fields, prefix: "header", except: nil, to: &bytes, places: &places)
        append(response.trailers, prefix: "trailer", except: nil, to: &bytes, places: &places)
    }

    private static func appendTarget(_ target: [UInt8], to bytes: inout [UInt8], places: inout FieldPlaces?) {
        let path = target.prefix { $0 != 0x3F && $0 != 0x23 }
        add(path, "path", to: &bytes, places: &places)
        let query = target[path.endIndex...].prefix { $0 != 0x23 }
        if !query.isEmpty {
            if places != nil {
                // One stretch, several places.
                var start = bytes.count
                for pair in query.dropFirst().split(separator: 0x26, omittingEmptySubsequences: false) {
                    let name = String(decoding: pair.prefix { $0 != 0x3D }, as: UTF8.self)
                    places?.append(start..<start + pair.count, "query:" + shown(name))
                    start += pair.count + 1
                }
            }
            bytes += query.dropFirst()
            bytes.append(separator)
        }
        let fragment = target[query.endIndex...]
        if !fragment.isEmpty { add(fragment.dropFirst(), "fragment", to: &bytes, places: &places) }
    }

    private static func append(
        _ section: FieldSection, prefix: String, except target: [UInt8]?, to bytes: inout [UInt8],
        places: inout FieldPlaces?
    ) {
        for field in section.fields {
            let name = section.nameBytes(field)
            let value = section.valueBytes(field)
            // `:path` repeats the target, which was scanned as such.
            if let target, name.first == 0x3A, value.elementsEqual(target) { continue }
            guard places != nil else {
                bytes += name
                bytes.append(separator)
                bytes += value
                bytes.append(separator)
                continue
            }
            let label = shown(section.name(field).lowercased())
            add(name, "\(prefix)-name:\(label)", to: &bytes, places: &places)
            guard section.hasName(field, "cookie") else {
                add(value, "\(prefix):\(label)", to: &bytes, places: &places)
                continue
            }
            var start = bytes.count
            for pair in value.split(separator: 0x3B, omittingEmptySubsequences: false) {
                let name = String(decoding: pair.prefix { $0 != 0x3D }.drop { $0 == 0x20 }, as: UTF8.self)
                places?.append(start..<start + pair.count, "cookie:" + shown(name))
                start += pair.count + 1
            }
            bytes += value
            bytes.append(separator)
        }
    }

    private static func add(
        _ value: ArraySlice<UInt8>, _ step: @autoclosure () -> String, to bytes: inout [UInt8],
        places: inout FieldPlaces?
    ) {
        if places != nil { places?.append(bytes.count..<bytes.count + value.count, step()) }
        bytes += value
        bytes.append(separator)
    }

    private static func shown(_ name: String) -> String { TextMask.word(Substring(name)) }
}
