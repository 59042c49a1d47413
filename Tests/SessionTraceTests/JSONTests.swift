import SessionTrace
import Testing

@Suite struct JSONTests {
    @Test(
        "values",
        arguments: [
            ("null", JSONValue.null), (" true ", .bool(true)), ("false", .bool(false)),
            ("-0", .number("-0")), ("1.50e+07", .number("1.50e+07")),
            ("9999999999999999999999", .number("9999999999999999999999")),
            (#""a\"\\\/\b\f\n\r\tz""#, .string("a\"\\/\u{8}\u{C}\n\r\tz")), (#""\u00e9\uD83D\uDE00""#, .string("é😀")),
            (#""\uD83Dx""#, .string("\u{FFFD}x")), (#""\uD83D\u0041""#, .string("\u{FFFD}A")),
            (#""\uDE00""#, .string("\u{FFFD}")),
            (#""\uD83D\uD83D\uDE00""#, .string("\u{FFFD}😀")),
            ("[]", .array([])), ("{ }", .object([])), ("[1 , [2]]", .array([.number("1"), .array([.number("2")])])),
            ("\u{FEFF}1", .number("1")),
        ])
    func values(text: String, expected: JSONValue) throws {
        #expect(try JSONValue.parse(text) == expected)
    }

    @Test("order, duplicates and offsets are kept")
    func members() throws {
        let value = try JSONValue.parse(#"{"b":1, "a":{"x":[true,null]}, "b":2}"#)
        #expect(value.members?.map(\.name) == ["b", "a", "b"])
        #expect(value.members?.map(\.offset) == [1, 8, 31])
        #expect(value["b"] == .number("2"))
        #expect(value.hasDuplicateNames)
        #expect(value["a"]?.hasDuplicateNames == false)
        #expect(value.description == #"{"b":1,"a":{"x":[true,null]},"b":2}"#)
    }

    @Test("pointers, RFC 6901")
    func pointers() throws {
        let value = try JSONValue.parse(#"{"items":[{"id":7}],"":1,"a/b":2,"m~n":3,"~1":4}"#)
        #expect(value.value(at: "") == value)
        #expect(value.value(at: "/items/0/id")?.integerValue == 7)
        #expect(value.value(at: "/") == .number("1"))
        #expect(value.value(at: "/a~1b") == .number("2"))
        #expect(value.value(at: "/m~0n") == .number("3"))
        #expect(value.value(at: "/~01") == .number("4"))
        for absent in ["items", "/items/1", "/items/00", "/items/-", "/items/+0", "/items/0/id/x", "/none"] {
            #expect(value.value(at: absent) == nil, "\(absent)")
        }
    }

    @Test(
        "faults",
        arguments: [
            ("", JSONError.Code.endOfText, 1, 1), ("[1,]", .expected("a value"), 1, 4),
            ("{\"a\":1,}", .expected("a member name"), 1, 8),
            ("[1\n 2]", .expected("a comma or ]"), 2, 2), ("{\"é\" 1}", .expected("a colon"), 1, 6),
            ("01", .malformedNumber, 1, 2),
            ("1.", .endOfText, 1, 3), ("-x", .malformedNumber, 1, 2), ("\"\\x\"", .malformedEscape, 1, 2),
            ("\"a\u{1}\"", .controlCharacter, 1, 3),
            ("\"\\u12G4\"", .malformedEscape, 1, 2), ("nul", .endOfText, 1, 4), ("nulL", .expected("a value"), 1, 4),
            ("1 2", .trailingText, 1, 3),
            ("\"abc", .endOfText, 1, 5), ("NaN", .expected("a value"), 1, 1), ("'a'", .expected("a value"), 1, 1),
            ("/*c*/1", .expected("a value"), 1, 1),
        ])
    func faults(text: String, code: JSONError.Code, line: Int, column: Int) {
        let error = #expect(throws: JSONError.self) { try JSONValue.parse(text) }
        #expect(error?.code == code)
        #expect(error?.line == line && error?.column == column, "\(text): \(String(describing: error))")
    }

    @Test("strings must be UTF-8")
    func encoding() {
        let error = #expect(throws: JSONError.self) { try JSONValue.parse([0x22, 0x61, 0xFF, 0x22]) }
        #expect(error?.code == .notUTF8)
    }

    @Test("limits")
    func limits() throws {
        let deep = String(repeating: "[", count: 129) + String(repeating: "]", count: 129)
        #expect(throws: JSONError.self) { try JSONValue.parse(deep) }
        #expect(throws: Never.self) { try JSONValue.parse(String(deep.dropFirst().dropLast())) }
        #expect(throws: JSONError.self) { try JSONValue.parse("[1,2,3]", limits: JSONLimits(values: 3)) }
        #expect(throws: Never.self) { try JSONValue.parse("[1,2,3]", limits: JSONLimits(values: 4)) }
        #expect(throws: JSONError.self) { try JSONValue.parse("12345", limits: JSONLimits(bytes: 4)) }
        #expect(throws: JSONError.self) { try JSONValue.parse(String(repeating: "[", count: 1_000_000)) }
    }

    @Test("mutated text never traps, and what parses is written and read back equal")
    func mutations() throws {
        let seed = Array(#"{"kind":"tap","n":[1.5e3,-0,"\u00e9\n"],"o":{"x":null,"y":true}}"#.utf8)
        var random = SystemRandomNumberGenerator()
        for _ in 0..<20_000 {
            var text = seed
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                text[Int.random(in: 0..<text.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            guard let value = try? JSONValue.parse(text) else { continue }
            #expect(try JSONValue.parse(value.description) == value)
        }
    }
}
