import SessionTrace
import Testing
import WireFormats

/// Lines of Appium servers with `--log-timestamp`, in the shapes seen in appium/appium issues 11699, 15047 and 19244.
@Suite struct AppiumLogTests {
    private static let session = "1ba86385-06a8-4644-bea9-dc5ffe6e0c8e"

    private static func find(_ using: String, _ value: String, element: String) -> String {
        """
        2026-11-30 05:10:31:290 [HTTP] --> POST /session/\(session)/element
        2026-11-30 05:10:31:290 [HTTP] {"using":"\(using)","value":"\(value)"}
        2026-11-30 05:10:31:291 [AndroidUiautomator2Driver@3694 (1ba86385)] Calling AppiumDriver.findElement() with args: []
        2026-11-30 05:10:31:295 [AndroidUiautomator2Driver@3694 (1ba86385)] Responding to client with driver.findElement() result: {"element-6066-11e4-a52e-4f735466cecf":"\(element)","ELEMENT":"\(element)"}
        2026-11-30 05:10:31:297 [HTTP] <-- POST /session/\(session)/element 200 15 ms - 137
        2026-11-30 05:10:31:297 [HTTP] 

        """
    }

    private static func click(_ element: String, status: Int = 200) -> String {
        """
        2026-11-30 05:10:31:304 [HTTP] --> POST /session/\(session)/element/\(element)/click
        2026-11-30 05:10:31:304 [HTTP] {"id":"\(element)"}
        2026-11-30 05:10:31:305 [AndroidUiautomator2Driver@3694 (1ba86385)] Proxying [POST /element/\(element)/click] to [POST http://127.0.0.1:8200/session/b92629fe/element/\(element)/click] with body: {"element":"\(element)"}
        2026-11-30 05:10:31:801 [HTTP] <-- POST /session/\(session)/element/\(element)/click \(status) 497 ms - 14

        """
    }

    @Test("a click lasts from its request to its answer; its label is what the element was found by")
    func click() throws {
        let text = Self.find("accessibility id", "Share selection and continue", element: "98") + Self.click("98")
        let marks = try ImportedMarks(text, .appium)
        #expect(marks.lines == ["7 tap share 05:10:31.304000000…05:10:31.801999999 Share selection and continue"])
        #expect(marks.remarks == [])
    }

    @Test(
        "texts in selectors",
        arguments: [
            ("-ios predicate string", #"label == \"Continue to Chia\""#, "neutral"),
            ("xpath", "//*[@text='Continue without sharing']", "neutral"),
            ("-android uiautomator", #"new UiSelector().text(\"Share selection and continue\")"#, "share"),
            ("xpath", "//*[@text='Continue without sharing' and @class='Button']", nil), ("id", "shop:id/x", "other"),
            ("class name", "android.widget.Button", nil),
        ])
    func selectors(using: String, value: String, target: String?) throws {
        let marks = try ImportedMarks(Self.find(using, value, element: "e") + Self.click("e"), .appium)
        #expect(marks.reading.marks.map { $0.mark.target?.rawValue } == [target])
        #expect(marks.remarks.isEmpty == (target != nil))
    }

    @Test("an older log: a dash, levels, a base path, the one element of a list")
    func older() throws {
        let text = """
            2026-11-30 05:10:30:000 - [info] [HTTP] --> POST /wd/hub/session/46948f5b/elements
            2026-11-30 05:10:30:001 - [info] [HTTP] {"using":"id","value":"cta"}
            2026-11-30 05:10:30:100 - [debug] [W3C (46948f5b)] Responding to client with driver.findElements() result: [{"ELEMENT":"dad"}]
            2026-11-30 05:10:30:101 - [info] [HTTP] <-- POST /wd/hub/session/46948f5b/elements 200 331 ms - 137
            2026-11-30 05:10:31:000 - [info] [HTTP] --> POST /wd/hub/session/46948f5b/element/dad/click
            2026-11-30 05:10:31:500 - [info] [HTTP] <-- POST /wd/hub/session/46948f5b/element/dad/click 200 331 ms - 137
            """
        let settings = ImportedMarks.settings(targets: ["cta=cta"])
        #expect(
            try ImportedMarks(text, .appium, settings: settings).lines == [
                "5 tap cta 05:10:31.000000000…05:10:31.500999999 cta"
            ])
        let two = text.replacing(#"[{"ELEMENT":"dad"}]"#, with: #"[{"ELEMENT":"dad"},{"ELEMENT":"mum"}]"#)
        #expect(
            try ImportedMarks(two, .appium, settings: settings).lines == [
                "5 tap - 05:10:31.000000000…05:10:31.500999999"
            ])
    }

    @Test("two sessions at once keep their elements apart; the same id in the other one is another element")
    func sessions() throws {
        let text = """
            2026-11-30 05:10:30:000 [HTTP] --> POST /session/aaaaaaaa-1/element
            2026-11-30 05:10:30:000 [HTTP] {"using":"id","value":"Continue to Chia"}
            2026-11-30 05:10:30:001 [HTTP] --> POST /session/bbbbbbbb-1/element
            2026-11-30 05:10:30:001 [HTTP] {"using":"id","value":"Share selection and continue"}
            2026-11-30 05:10:30:002 [D@1 (bbbbbbbb)] Responding to client with driver.findElement() result: {"ELEMENT":"1"}
            2026-11-30 05:10:30:003 [D@1 (aaaaaaaa)] Responding to client with driver.findElement() result: {"ELEMENT":"1"}
            2026-11-30 05:10:30:004 [HTTP] <-- POST /session/aaaaaaaa-1/element 200 4 ms - 1
            2026-11-30 05:10:30:005 [HTTP] <-- POST /session/bbbbbbbb-1/element 200 4 ms - 1
            2026-11-30 05:10:31:000 [HTTP] --> POST /session/bbbbbbbb-1/element/1/click
            2026-11-30 05:10:31:001 [HTTP] --> POST /session/aaaaaaaa-1/element/1/click
            2026-11-30 05:10:31:002 [HTTP] <-- POST /session/aaaaaaaa-1/element/1/click 200 4 ms - 1
            2026-11-30 05:10:31:003 [HTTP] <-- POST /session/bbbbbbbb-1/element/1/click 200 4 ms - 1
            """
        let marks = try ImportedMarks(text, .appium)
        #expect(
            marks.lines == [
                "9 tap share 05:10:31.000000000…05:10:31.003999999 Share selection and continue",
                "10 tap neutral 05:10:31.001000000…05:10:31.002999999 Continue to Chia",
            ])
        let nameless = text.replacing("D@1 (bbbbbbbb)", with: "D").replacing("D@1 (aaaaaaaa)", with: "D")
        #expect(try ImportedMarks(nameless, .appium).reading.marks.map(\.mark.target) == [nil, nil])
    }

    @Test("`mobile: clickGesture` and `mobile: doubleTap` are taps; other scripts are none")
    func scripts() throws {
        func script(_ words: String) -> String {
            Self.find("id", "Continue to Chia", element: "7") + """
                2026-11-30 05:10:32:000 [HTTP] --> POST /session/\(Self.session)/execute/sync
                2026-11-30 05:10:32:000 [HTTP] {"script":"\(words)","args":[{"elementId":"7"}]}
                2026-11-30 05:10:32:100 [HTTP] <-- POST /session/\(Self.session)/execute/sync 200 100 ms - 14

                """
        }
        #expect(
            try ImportedMarks(script("mobile: clickGesture"), .appium).lines == [
                "7 tap neutral 05:10:32.000000000…05:10:32.100999999 Continue to Chia"
            ])
        #expect(try ImportedMarks(script("mobile: doubleTap"), .appium).reading.marks.map(\.mark.count) == [2])
        #expect(try ImportedMarks(script("mobile: scroll"), .appium).lines == [])
        // What was left out is counted by its name; what a page was made to run is not repeated.
        func others(_ text: String) throws -> [String] {
            try ImportedMarks(text, .appium).reading.otherSteps.map { "\($0.count) \($0.name)" }
        }
        #expect(try others(script("mobile: scroll") + script("mobile: scroll")) == ["2 mobile: scroll"])
        #expect(try others(script("return document.cookie")) == ["1 script"])
        #expect(try others(script("mobile: clickGesture")) == [])
        let keys = Self.click("98").replacing("/click", with: "/value")
        #expect(try others(keys) == ["1 value"])
    }

    @Test("what is not surely a tap, or did not succeed, is told and is no mark")
    func noMarks() throws {
        for status in [400, 404, 499] {
            let refused = try ImportedMarks(Self.click("98", status: status), .appium)
            #expect(refused.lines == [])
            #expect(refused.remarks == ["1@1 a tap that was answered with an error; no mark"])
        }
        #expect(
            try ImportedMarks(Self.click("98"), .appium).remarks == [
                "1@1 a tap on something that was not found by a text"
            ])
    }

    /// The server gave up waiting, and the tap may have been made all the same.
    @Test(
        "a tap of which the answer does not say that it failed is one that perhaps was made",
        arguments: [500, 504, 399])
    func unsure(status: Int) throws {
        let text =
            Self.find("accessibility id", "Share selection and continue", element: "98")
            + Self.click("98", status: status)
        let marks = try ImportedMarks(text, .appium)
        #expect(marks.lines == ["7 tap - 05:10:31.304000000…05:10:31.801999999 uncertain=true"])
        #expect(
            marks.remarks == ["1@7 a tap that was answered with an error, and perhaps was made: a mark without target"])
    }

    @Test("a tap without its answer goes on until the session's next request, or the last line")
    func unanswered() throws {
        let begun = "2026-11-30 05:10:33:000 [HTTP] --> POST /session/\(Self.session)/element/1/click\n"
        let cut = try ImportedMarks(begun + "2026-11-30 05:10:40:000 [Appium] waiting\n", .appium)
        #expect(cut.lines == ["1 tap - 05:10:33.000000000…05:10:40.000999999 uncertain=true"])
        #expect(cut.remarks == ["1@1 a tap without its answer, which perhaps was made: a mark without target"])
        let next = begun + "2026-11-30 05:10:50:000 [HTTP] --> POST /session/\(Self.session)/timeouts\n"
        #expect(
            try ImportedMarks(next, .appium).lines == ["1 tap - 05:10:33.000000000…05:10:50.000999999 uncertain=true"])
        #expect(
            try ImportedMarks(begun, .appium).lines == ["1 tap - 05:10:33.000000000…05:10:33.000999999 uncertain=true"])
    }

    private static func gesture(_ body: String?, status: Int = 200, path: String = "actions") -> String {
        """
        2026-11-30 05:10:32:000 [HTTP] --> POST /session/\(session)/\(path)
        \(body.map { "2026-11-30 05:10:32:001 [HTTP] \($0)" } ?? "")
        2026-11-30 05:10:32:100 [HTTP] <-- POST /session/\(session)/\(path) \(status) 100 ms - 14

        """
    }

    private static func pointer(_ steps: String) -> String {
        #"{"actions":[{"type":"pointer","id":"finger1","actions":[\#(steps)]}]}"#
    }

    @Test(
        "a gesture by coordinates is a tap if the finger goes down and up in one place",
        arguments: [
            (nil, true), ("{}", true), (#"{"actions":[]}"#, false),
            (
                pointer(
                    #"{"type":"pointerMove","x":10,"y":20},{"type":"pointerDown"},{"type":"pause"},{"type":"pointerUp"}"#
                ), true
            ),
            (pointer(#"{"type":"pointerMove","x":10,"y":20},{"type":"pointerDown"}"#), false),
            (pointer(#"{"type":"pointerDown"},{"type":"pointerMove","x":10,"y":900},{"type":"pointerUp"}"#), true),
            (
                pointer(
                    #"{"type":"pointerMove","x":10,"y":20},{"type":"pointerDown"},{"type":"pointerMove","x":10,"y":52},{"type":"pointerUp"}"#
                ), true
            ),
            (
                pointer(
                    #"{"type":"pointerMove","x":10,"y":20},{"type":"pointerDown"},{"type":"pointerMove","x":10,"y":53},{"type":"pointerUp"}"#
                ), false
            ),
            (
                pointer(
                    #"{"type":"pointerMove","x":90,"y":20},{"type":"pointerDown"},{"type":"pointerMove","x":57,"y":20},{"type":"pointerUp"}"#
                ), false
            ),
            (
                pointer(
                    #"{"type":"pointerMove","x":90,"y":20},{"type":"pointerDown"},{"type":"pointerMove","x":58,"y":20},{"type":"pointerUp"}"#
                ), true
            ),
            (
                pointer(
                    #"{"type":"pointerDown"},{"type":"pointerMove","origin":"pointer","x":0,"y":-33},{"type":"pointerUp"}"#
                ), false
            ),
            (
                pointer(
                    #"{"type":"pointerDown"},{"type":"pointerMove","origin":"pointer","x":0,"y":-32},{"type":"pointerUp"}"#
                ), true
            ),
            (
                pointer(
                    #"{"type":"pointerMove","x":10,"y":20},{"type":"pointerDown"},{"type":"pointerMove","origin":{"element-6066-11e4-a52e-4f735466cecf":"9"},"x":10,"y":900},{"type":"pointerUp"}"#
                ), true
            ),
            (
                pointer(
                    #"{"type":"pointerMove","x":10,"y":20},{"type":"pointerDown"},{"type":"pointerMove","origin":"viewport","x":10,"y":900},{"type":"pointerUp"}"#
                ), false
            ),
            (
                pointer(
                    #"{"type":"pointerMove","x":10,"y":20},{"type":"pointerMove","x":90,"y":900},{"type":"pointerDown"},{"type":"pointerUp"}"#
                ), true
            ),
            (pointer(#"{"type":"pointerUp"}"#), false),
            (#"{"actions":[{"type":"pointer"}]}"#, true),
            (
                #"{"actions":[{"type":"none","actions":[]},{"type":"pointer","actions":[{"type":"pointerDown"},{"type":"pointerUp"}]}]}"#,
                true
            ),
            (#"{"actions":[{"type":"key","actions":[{"type":"keyDown","value":"a"}]}]}"#, false),
        ])
    func gestures(body: String?, mayTap: Bool) throws {
        let marks = try ImportedMarks(Self.gesture(body), .appium)
        #expect(marks.lines == (mayTap ? ["1 tap - 05:10:32.000000000…05:10:32.100999999 uncertain=true"] : []))
        #expect(
            marks.remarks == (mayTap ? ["1@1 a gesture by coordinates, which may be a tap: a mark without target"] : [])
        )
        #expect(marks.reading.otherSteps.map(\.name) == (mayTap ? [] : ["gesture"]))
    }

    @Test("a gesture that was refused was none; one of the older protocol may be a tap")
    func otherGestures() throws {
        let tap = Self.pointer(#"{"type":"pointerDown"},{"type":"pointerUp"}"#)
        #expect(try ImportedMarks(Self.gesture(tap, status: 400), .appium).lines == [])
        #expect(try ImportedMarks(Self.gesture(tap, status: 500), .appium).lines.count == 1)
        let touch = #"{"actions":[{"action":"tap","options":{"x":1}}]}"#
        #expect(try ImportedMarks(Self.gesture(touch, path: "touch/perform"), .appium).lines.count == 1)
        let cut = Self.gesture(tap).split(separator: "\n").prefix(2).joined(separator: "\n")
        #expect(
            try ImportedMarks(cut, .appium).lines == ["1 tap - 05:10:32.000000000…05:10:32.001999999 uncertain=true"])
    }

    @Test("sessions have a limit; a request that follows a click without an answer ends it")
    func requests() throws {
        var text = ""
        for session in 100..<165 {
            text += "2026-11-30 05:10:31:0 [HTTP] --> POST /session/\(session)/element/1/click\n"
        }
        #expect(
            try ImportedMarks(text, .appium).remarks == [
                "64@1 a tap without its answer, which perhaps was made: a mark without target",
                "1@65 more than 64 sessions",
            ])
        let again = """
            2026-11-30 05:10:31:000 [HTTP] --> POST /session/1/element/1/click
            2026-11-30 05:10:32:000 [HTTP] --> POST /session/1/element/1/click
            2026-11-30 05:10:32:500 [HTTP] <-- POST /session/1/element/1/click 200
            2026-11-30 05:10:33:000 [HTTP] --> POST /session/1/timeouts
            2026-11-30 05:10:33:100 [HTTP] --> POST /session/1/timeouts
            """
        let marks = try ImportedMarks(again, .appium)
        #expect(
            marks.lines == [
                "1 tap - 05:10:31.000000000…05:10:32.000999999 uncertain=true",
                "2 tap - 05:10:32.000000000…05:10:32.500999999",
            ])
        #expect(marks.remarks.first == "1@1 a tap without its answer, which perhaps was made: a mark without target")
        #expect(marks.remarks.count == 2)
    }

    @Test("what the driver of another session found is not this session's")
    func strangers() throws {
        let text = (Self.find("id", "Continue to Chia", element: "98") + Self.click("98"))
            .replacing("(1ba86385)", with: "(cccccccc)")
        #expect(try ImportedMarks(text, .appium).reading.marks.map(\.mark.target) == [nil])
    }

    @Test("lines of others between")
    func foreignLines() throws {
        let text = "Error: listen EADDRINUSE\n[debug] no time here\n" + Self.click("98")
        let marks = try ImportedMarks(text, .appium)
        #expect(marks.lines.count == 1)
        #expect(marks.remarks.first == "1@1 not a line of appium")
        let unanswered = "2026-11-30 05:10:31:290 [HTTP] --> POST /session/\(Self.session)/element\n"
        #expect(try ImportedMarks(unanswered, .appium).remarks == [])
    }

    @Test("without times there is nothing to import; local times need their zone")
    func times() throws {
        let bare = Self.click("98").split(separator: "\n").map { $0.dropFirst(24) }.joined(separator: "\n")
        #expect(
            MarkError.of { () throws(MarkError) in try ImportedMarks(bare, .appium) }
                == "mark:1:1: a tap without a time; run appium --log-timestamp")
        let local = "2026-11-30 06:10:30:000 [Appium]   localTimezone: true\n" + Self.click("98")
        #expect(
            MarkError.of { () throws(MarkError) in try ImportedMarks(local, .appium) }
                == "mark:1:1: the times are local (--local-timezone); give --zone, as +01:00")
        #expect(
            try ImportedMarks(local, .appium, settings: ImportedMarks.settings(zoneSeconds: 3_600)).lines == [
                "2 tap - 04:10:31.304000000…04:10:31.801999999"
            ])
    }
}
