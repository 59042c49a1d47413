import Testing

@testable import Lab

/// Stories as text: what they say, and what is wrong with them.
@Suite struct StoryBookTests {
    static let common = """
        policy
          hosts.partner [api.partner.example]
          timing.double-tap 300ms
        document item
          | trt_1
        document two lines
          | a
          | b
        sender app
          | User-Agent: Shop/1
        labels fine
          expect rest not-applicable
          expect HR-01 pass
        fragment start
          launch
          first: get /home
        story base
          about A story.
          labels fine
          set timing.double-tap 100ms
          use start
          second: post later expect=503 body='{"a":"b c"}'  # a comment
        """

    static func book(_ text: String) throws -> StoryBook {
        try StoryBook(files: [("a.story", common + "\n" + text)])
    }

    @Test func readsStepsLabelsAndPolicy() throws {
        let book = try Self.book("")
        let story = try #require(book.story("base"))
        #expect(story.steps.map(\.verb) == ["launch", "get", "post"])
        #expect(story.steps.map(\.label) == ["", "first", "second"])
        #expect(story.steps[2].option("body") == #"{"a":"b c"}"#)
        #expect(story.steps[2].option("expect") == "503")
        #expect(story.steps[2].has("later"))
        #expect(book.documents["two"] == "a\nb")
        #expect(
            book.policyText(of: story)
                == "hosts:\n  partner: [api.partner.example]\ntiming:\n  double-tap: 100ms\n")
    }

    @Test func changesOneStep() throws {
        let book = try Self.book(
            """
            story other like base
              about Another.
              before first: pause 10ms
              after first: pause 20ms
              after first: third: pause 30ms
              replace second: kill
              drop first
            """)
        let story = try #require(book.story("other"))
        #expect(
            story.steps.map { $0.verb + ($0.words.first ?? "") } == [
                "launch", "pause10ms", "pause20ms", "pause30ms", "kill",
            ])
        #expect(story.steps.map(\.label) == ["", "", "", "third", "second"])
        #expect(book.story("base")?.steps.count == 3)
    }

    @Test func aGroundIsNotPlayed() throws {
        let book = try Self.book("ground soil like base\n  about Soil.\nstory plant like soil\n  about A plant.")
        #expect(book.stories.map(\.name) == ["base", "plant"])
    }

    @Test func theLastExpectationThatHoldsCounts() throws {
        let book = try Self.book(
            """
            story other like base
              about Another.
              trap HR-01 fail "looks like one"
              expect HR-02 inconclusive no-keys via=passive
              expect HR-02 pass recorder=proxy
            story third like other
              about A third.
            """)
        let other = try #require(book.story("other"))
        let passive = try #require(LabTransport("passive-h1-tls13-ip4"))
        let proxied = try #require(LabTransport("socks-h2-tls12-ip6"))
        #expect(other.expectation(of: "HR-01", over: passive)?.verdict == "fail")
        #expect(other.expectation(of: "HR-02", over: passive)?.reason == "no-keys")
        #expect(other.expectation(of: "HR-02", over: proxied)?.verdict == "pass")
        #expect(other.expectation(of: "HR-66", over: passive)?.verdict == "not-applicable")
        #expect(other.expectation(of: "HC-01", over: passive) == nil)
        // A trap is the trap of one story: what is made from it says so itself.
        #expect(other.expectation(of: "HR-01", over: passive)?.trap == "looks like one")
        #expect(book.story("third")?.expectation(of: "HR-01", over: passive)?.trap == "")
    }

    @Test(arguments: [
        (
            "story x like bass\n  about X.",
            "a.story:23: there is no story \"bass\" before this one; did you mean \"base\"?"
        ),
        ("story x\n  about X.\n  lunch", "a.story:25: there is no step \"lunch\"; did you mean \"launch\"?"),
        ("story x\n  about X.\n  post expct=503", "a.story:25: \"post\" has no \"expct\"; did you mean \"expect\"?"),
        ("story x\n  about X.\n  pause soon", "a.story:25: \"soon\" is no time such as 300ms or 2s"),
        ("story x\n  about X.\n  get 'a", "a.story:25: a quote ' that is not closed"),
        ("story x\n  launch", "a.story:23: x has no `about`"),
        (
            "story x\n  about X.\n  expect HR-01 maybe",
            "a.story:25: rules, then one of pass, fail, inconclusive, not-applicable, then a reason code"
        ),
        (
            "story x\n  about X.\n  serve GET /home soon",
            "a.story:25: \"soon\" is neither a status nor one of drop, half, image, refuse, reset, session"
        ),
        (
            "stroy x",
            "a.story:23: \"stroy\" is none of story, ground, fragment, labels, document, sender, policy; did you mean \"story\"?"
        ),
    ])
    func saysWhatIsWrongAndWhere(text: String, message: String) {
        do {
            _ = try Self.book(text)
            Issue.record("was taken: \(text)")
        } catch {
            #expect("\(error)" == message)
        }
    }

    @Test func fillsInValues() throws {
        let values = ["url": "https://chia.health/h/phs_a?b", "n": "AB"]
        func fill(_ text: String) throws -> String {
            String(decoding: try StoryText.fill(text) { values[$0].map { Array($0.utf8) } }, as: UTF8.self)
        }
        #expect(
            try fill("$5 ${n} ${n|base64} ${n|hex|upper} ${url|path} ${url|host}")
                == "$5 AB QUI= 4142 /h/phs_a?b chia.health")
        #expect(try fill("${n|json-u}") == #"\u0041\u0042"#)
        #expect(try fill("${n|base64url}") == "QUI")
        #expect(try fill("${n|spoilt}") == "AA")
        #expect(try fill("${n|percent-all}") == "%41%42")
        #expect(throws: LabError.self) { try fill("${nobody}") }
        #expect(throws: LabError.self) { try fill("${n|rot14}") }
    }

    @Test func aTableCountsWhatIsRightAndWrong() throws {
        let book = try Self.book("story other like base\n  about X.\n  trap HR-01 pass \"a trap\"")
        let (base, other) = (try #require(book.story("base")), try #require(book.story("other")))
        let transport = try #require(LabTransport("passive-h1-tls13-ip4"))
        var table = CorpusTable()
        table.add(rule: "HR-01", verdict: "pass", reason: "", sentence: "", of: base, over: transport)
        table.add(rule: "HR-01", verdict: "fail", reason: "", sentence: "why", of: other, over: transport)
        table.add(rule: "HC-01", verdict: "fail", reason: "", sentence: "why", of: base, over: transport)
        table.add(rule: "HC-02", verdict: "pass", reason: "", sentence: "", of: base, over: transport)
        #expect(table.cells["HR-01"]?[.pass] == CorpusTable.Cell(sessions: 1, right: 1))
        #expect(table.cells["HR-01"]?[.trap] == CorpusTable.Cell(sessions: 1, right: 0))
        #expect(table.misses.map(\.rule) == ["HR-01", "HC-01"])
        #expect(table.unlabelled == ["HC-02": 1])
        let cells = try EmptyCells("HR-01\tfail\tno time\nHR-01\tpass\tstale\n", file: "e.tsv")
        #expect(
            table.gaps(cells) == [
                "HR-01 has sessions of kind pass, and a reason for having none",
                "HR-01 has no session of kind inconclusive",
            ])
        #expect(table.markdown(cells).contains("| HR-01 | 1 | –[^1] | – | 1, **1 wrong** | – |"))
    }
}
