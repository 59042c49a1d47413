import SessionTrace
import Testing

@testable import HandoffProxy

@Suite struct LocalRequestReaderTests {
    /// Everything that comes of `text`, fed in pieces of at most `piece` bytes.
    private static func steps(
        _ text: String, piece: Int = .max, limits: LocalRequestReader.Limits = .init()
    ) -> [LocalRequestReader.Step] {
        var reader = LocalRequestReader(limits: limits)
        var steps: [LocalRequestReader.Step] = []
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            reader.feed(rest.prefix(piece))
            rest = rest.dropFirst(min(piece, rest.count))
            loop: while true {
                let step = reader.next()
                switch step {
                case .needsInput: break loop
                case .refused:
                    steps.append(step)
                    return steps
                case .request, .wantsContinue: steps.append(step)
                }
            }
        }
        return steps
    }

    private static func requests(_ text: String) -> [LocalRequest] {
        steps(text).compactMap { step in
            if case .request(let request) = step { return request }
            return nil
        }
    }

    static let wholeTexts = [
        "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /a?b=c HTTP/1.1\nHost: a\n\nGET /d HTTP/1.1\r\nHost: a\r\n\r\n",
        "POST /marks HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhelloGET / HTTP/1.0\r\n\r\n",
        "POST /m HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n2\r\nde\r\n0\r\nT: v\r\n\r\nGET / HTTP/1.1\r\nHost: b\r\n\r\n",
        "\r\n\r\nGET http://mark.handoff.test/x HTTP/1.1\r\nHost: other\r\n\r\n",
    ]

    @Test(arguments: wholeTexts) func splitsChangeNothing(text: String) {
        let whole = Self.steps(text)
        #expect(!whole.isEmpty)
        for piece in 1...9 { #expect(Self.steps(text, piece: piece) == whole, "pieces of \(piece)") }
    }

    /// Damaged requests neither trap nor are read forever.
    @Test func damageIsSurvived() {
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<4_000 {
            var bytes = Array((Self.wholeTexts.randomElement(using: &generator) ?? "").utf8)
            for _ in 0..<Int.random(in: 1...6, using: &generator) where !bytes.isEmpty {
                let index = bytes.indices.randomElement(using: &generator) ?? 0
                switch Int.random(in: 0..<4, using: &generator) {
                case 0: bytes[index] = UInt8.random(in: .min ... .max, using: &generator)
                case 1: bytes.remove(at: index)
                case 2: bytes.insert(contentsOf: [0x0D, 0x0A], at: index)
                default: bytes.insert(contentsOf: bytes[..<index], at: index)
                }
            }
            var reader = LocalRequestReader()
            var steps = 0
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = min(rest.count, Int.random(in: 1...64, using: &generator))
                reader.feed(rest.prefix(count))
                rest = rest.dropFirst(count)
                loop: while steps < 10_000 {
                    steps += 1
                    switch reader.next() {
                    case .needsInput, .refused: break loop
                    case .request(let request): #expect(request.body.count <= 1 << 20)
                    case .wantsContinue: continue
                    }
                }
            }
            #expect(steps < 10_000)
        }
    }

    @Test func readsHeadAndContent() throws {
        let all = Self.requests(Self.wholeTexts[2])
        try #require(all.count == 2)
        #expect(all[0].method == "POST" && all[0].path == "/marks" && all[0].body == Array("hello".utf8))
        #expect(all[0].keepsAlive && !all[1].keepsAlive)
        #expect(all[1].authority == nil)
        let chunked = Self.requests(Self.wholeTexts[3])
        try #require(chunked.count == 2)
        #expect(chunked[0].body == Array("abcde".utf8))
        #expect(chunked[1].authority == "b")
    }

    @Test func absoluteFormNamesTheHost() throws {
        let request = try #require(Self.requests(Self.wholeTexts[4]).first)
        #expect(request.authority == "mark.handoff.test")
        #expect(request.target == "/x")
        let bare = Self.requests("GET http://mark.handoff.test?kind=tap HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(bare.first?.target == "/?kind=tap" && bare.first?.path == "/")
    }

    @Test(arguments: [
        ("GET / HTTP/1.1\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
        ("GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505), ("GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n", 400),
        ("GET ftp://a/ HTTP/1.1\r\nHost: a\r\n\r\n", 400), ("CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n\r\nx", 400),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx", 400),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\nx", 400),
        ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501),
        ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nExpect: wonders\r\n\r\n", 417),
        ("\u{16}\u{3}\u{1}\r\n\r\n", 400),
    ]) func refuses(text: String, status: Int) {
        for piece in [1, 2, 7, Int.max] {
            guard case .refused(status, _) = Self.steps(text, piece: piece).last else {
                Issue.record("\(text.debugDescription): \(Self.steps(text, piece: piece))")
                return
            }
        }
    }

    @Test func limitsAreKept() {
        let limits = LocalRequestReader.Limits(head: 100, fields: 3, body: 10)
        func last(_ text: String) -> LocalRequestReader.Step? { Self.steps(text, piece: 13, limits: limits).last }
        let long = String(repeating: "a", count: 200)
        for text in ["GET /\(long)", "GET /\(long) HTTP/1.1\r\nHost: a\r\n\r\n"] {
            guard case .refused(431, _) = last(text) else {
                Issue.record("\(text)")
                return
            }
        }
        guard case .refused(431, _) = last("GET / HTTP/1.1\r\nHost: a\r\nA: 1\r\nB: 1\r\nC: 1\r\n\r\n"),
            case .refused(413, _) = last("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n\r\n"),
            case .request = last("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n0123456789"),
            case .refused(413, _) = last(
                "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n6\r\n012345\r\n5\r\n"),
            case .refused(400, _) = last(
                "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nT: \(long)"),
            case .refused(400, _) = last(
                "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1;\(long)\r\na\r\n0\r\n\r\n")
        else {
            Issue.record("a limit is not kept")
            return
        }
    }

    @Test func asksForTheContentThatIsExpected() {
        let head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n"
        var reader = LocalRequestReader()
        reader.feed(head.utf8)
        #expect(reader.next() == .wantsContinue)
        #expect(reader.next() == .needsInput)
        #expect(reader.isInsideRequest)
        reader.feed("ab".utf8)
        guard case .request(let request) = reader.next() else {
            Issue.record("no request")
            return
        }
        #expect(request.body == Array("ab".utf8))
        #expect(!reader.isInsideRequest)
        // Content that is there already needs no 100.
        #expect(Self.steps(head + "ab").count == 1)
    }

    @Test func formTextIsRead() throws {
        let pairs = try #require(FormText.pairs("kind=tap&target=a+b%26c&empty=&alone&x=%E2%82%AC&=v"))
        #expect(pairs.map(\.name) == ["kind", "target", "empty", "alone", "x", ""])
        #expect(pairs.map(\.value) == ["tap", "a b&c", "", "", "€", "v"])
        for broken in ["a=%", "a=%4", "a=%zz", "a=%FF"] { #expect(FormText.pairs(broken) == nil, "\(broken)") }
        let many = (0..<100).map { "a\($0)=1" }.joined(separator: "&")
        #expect(FormText.pairs(many)?.count == FormText.pairLimit)
    }
}
