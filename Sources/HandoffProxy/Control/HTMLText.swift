/// HTML under construction. Text goes in escaped; only literals written here go in as they are.
struct HTMLText: ExpressibleByStringInterpolation, Sendable {
    /// The markup.
    private(set) var markup: String

    init(stringLiteral value: String) {
        markup = value
    }

    init(stringInterpolation: Interpolation) {
        markup = stringInterpolation.markup
    }

    /// Markup made elsewhere out of nothing but our own text.
    init(trusted markup: String) {
        self.markup = markup
    }

    static func += (left: inout HTMLText, right: HTMLText) { left.markup += right.markup }

    /// What `"…\(value)…"` does: values are escaped, other HTML is taken as it is.
    struct Interpolation: StringInterpolationProtocol {
        var markup = ""

        init(literalCapacity: Int, interpolationCount: Int) {
            markup.reserveCapacity(literalCapacity)
        }

        mutating func appendLiteral(_ literal: String) { markup += literal }
        mutating func appendInterpolation(_ html: HTMLText) { markup += html.markup }
        mutating func appendInterpolation(_ text: String) { markup += HTMLText.escaped(text) }
        mutating func appendInterpolation(_ number: Int) { markup += String(number) }
    }

    /// Text for content and for attributes in double or single quotes; control characters become spaces.
    static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            case "\u{0}"..<"\u{20}", "\u{7F}"..<"\u{A0}": escaped += " "
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
