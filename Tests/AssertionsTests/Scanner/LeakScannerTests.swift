import Assertions
import Crypto
import Foundation
import SessionTrace
import Testing

@Suite("LeakScanner")
struct LeakScannerTests {
    typealias Samples = ScannerSamples

    private func places(_ request: Request) -> [String] {
        var scanner = Samples.scanner()
        return scanner.scan(request).hits.map(\.place)
    }

    private func sha1(_ text: String) -> String {
        String(decoding: SampleEncoding.hexLower.encode(HashFunction.sha1.digest(of: Array(text.utf8))), as: UTF8.self)
    }

    private func bodyPlaces(_ body: String, type: String = "text/plain") -> [String] {
        places(Samples.request(fields: [("Content-Type", type)], body: Array(body.utf8)))
    }

    @Test("every place of a head")
    func headPlaces() {
        let token = Samples.token
        #expect(places(Samples.request("/x/\(token)")) == ["path"])
        #expect(places(Samples.request("/x?\(token)=1")) == ["query:‹token›"])
        #expect(places(Samples.request("/x?a=1&b=\(token)#y")) == ["query:b"])
        #expect(places(Samples.request("/x#\(token)")) == ["fragment"])
        #expect(places(Samples.request("https://a.example/x?u=\(Samples.url)")) == ["query:u"])
        #expect(places(Samples.request("\(token).example:443", method: "CONNECT")) == ["connect-target"])
        #expect(places(Samples.request(fields: [("X-\(token)", "1")])) == ["header-name:‹token›"])
        #expect(places(Samples.request(fields: [("Referer", Samples.url)])) == ["header:referer"])
        #expect(places(Samples.request(fields: [("Cookie", "a=1; \(token)=b")])) == ["cookie:‹token›"])
        #expect(places(Samples.request(trailers: [("X-T", token)])) == ["trailer:x-t"])
        let credentials = Data("user:\(token)".utf8).base64EncodedString()
        #expect(
            places(Samples.request(fields: [("Authorization", "Basic \(credentials)")])) == [
                "header:authorization → base64"
            ])
    }

    @Test("HTTP/2: :path is the target and not found twice, :authority is a place")
    func pseudoHeaders() {
        let target = "/x?u=\(Samples.token)"
        #expect(places(Samples.request(target, fields: [(":path", target)])) == ["query:u"])
        #expect(
            places(Samples.request(fields: [(":authority", "\(Samples.token).x.example")])) == ["header::authority"])
    }

    @Test("the most telling form is told, one hit for all forms")
    func forms() throws {
        var scanner = Samples.scanner()
        let cases: [(String, NeedleForm)] = [
            (Samples.url, .url), (String(Samples.url.dropFirst(8)), .withoutScheme),
            ("/continue/" + Samples.token, .path), (Samples.token, .token),
            (String(Samples.token.dropFirst(4)), .tokenBody),
        ]
        for (text, form) in cases {
            let hits = scanner.scan(bytes: Array("see \(text) now".utf8), location: "message").hits
            #expect(hits.count == 1)
            #expect(hits.first?.match == .known(Samples.needle, form))
            #expect(hits.first?.matched == Secret(Samples.token))
        }
    }

    @Test("a URL whose token stands in the query; its bare path is no needle")
    func tokenInQuery() {
        var scanner = LeakScanner(redactor: Samples.redactor)
        scanner.learn(needle: Needle(number: 3, kind: .handoffURL, label: "U#3", value: Samples.urlWithQuery))
        #expect(scanner.scan(Samples.request(fields: [("Referer", "https://www.chia.health/start")])).hits.isEmpty)
        #expect(
            scanner.scan(Samples.request(fields: [("Referer", Samples.urlWithQuery)])).hits.map(\.place) == [
                "header:referer"
            ])
    }

    @Test("a neutral URL whose query says what was selected; without it, it is everybody's")
    func neutralURLWithQuery() {
        var scanner = LeakScanner(redactor: Samples.redactor)
        let url = "https://chia.health/begin?item=glp1-month-0042"
        scanner.learn(needle: Needle(number: 3, kind: .neutralURL, label: "N#3", value: url))
        func places(_ text: String) -> [String] {
            scanner.scan(Samples.request(fields: [("Referer", text)])).hits.map(\.place)
        }
        for text in [url, String(url.dropFirst(8)), "/begin?item=glp1-month-0042", url + "#top"] {
            #expect(places(text) == ["header:referer"])
            #expect(places(Data(text.utf8).base64EncodedString()) == ["header:referer → base64"])
        }
        for text in [
            "https://chia.health/begin", "https://chia.health/begin/", "chia.health/begin?item=other", "/begin",
        ] {
            #expect(places(text).isEmpty)
            #expect(places(Data(text.utf8).base64EncodedString()).isEmpty)
            #expect(places(sha1(text)).isEmpty)
        }
        #expect(places(sha1(url)) == ["header:referer → hex → sha1"])
        // A selection in the path is part of the address.
        scanner.learn(
            needle: Needle(
                number: 4, kind: .neutralURL, label: "N#4", value: "https://chia.health/begin/glp1-month-0042"))
        #expect(places("https://chia.health/begin/glp1-month-0042") == ["header:referer"])
    }

    @Test("JSON pointers, nested JSON, lines, Sentry envelopes")
    func jsonPlaces() {
        let url = Samples.url
        #expect(bodyPlaces(#"{"a":[{"b~/c":"\#(url)"}]}"#) == ["body → json:/a/0/b~0~1c"])
        #expect(bodyPlaces(#"{"a":"{\"u\":\"\#(url)\"}"}"#) == ["body → json:/a → json:/u"])
        #expect(bodyPlaces(#"{"a":"https:\/\/chia.health\/continue\/\#(Samples.token)"}"#) == ["body → json:/a"])
        #expect(bodyPlaces(#"{"\#(Samples.token)":1}"#) == ["body → json:/‹token›"])
        #expect(
            bodyPlaces(
                """
                {"event_id":"1"}
                {"type":"event"}
                {"breadcrumbs":[{"data":{"to":"\(url)"}}]}
                """) == ["body → line:3 → json:/breadcrumbs/0/data/to"])
        #expect(bodyPlaces("42[\"nav\",{\"to\":\"\(url)\"}]") == ["body → json:/1/to"])
        #expect(bodyPlaces("opened \(url) at 3") == ["body"])
        #expect(bodyPlaces(#"log: "https:\u002f\u002fchia.health\u002fcontinue\u002f\#(Samples.token)""#) == ["body"])
    }

    @Test("two fields of one body are two places")
    func twoPlaces() {
        #expect(
            bodyPlaces(#"{"a":"\#(Samples.url)","b":"\#(Samples.token)"}"#) == ["body → json:/a", "body → json:/b"])
        let blob = Data(Samples.url.utf8).base64EncodedString()
        #expect(
            bodyPlaces(#"{"a":"\#(blob)","b":"\#(blob)"}"#) == ["body → json:/a → base64", "body → json:/b → base64"])
    }

    @Test("forms, multipart, data URLs, wrapped base64, JWT")
    func containers() {
        let url = Samples.url
        let blob = Data("{\"u\":\"\(url)\",\"pad\":\"0123456789012345678901234567890123456789\"}".utf8)
            .base64EncodedString()
        #expect(bodyPlaces("a=1&u=https%3A%2F%2Fchia.health%2fcontinue%2f\(Samples.token)") == ["body → form:u"])
        #expect(
            bodyPlaces("a=1&u=%7b%22k%22%3a%22p%68s_\(Samples.token.dropFirst(4))%22%7d")
                == ["body → form:u → percent → json:/k"])
        #expect(bodyPlaces(#"{"img":"data:text/plain;base64,\#(blob)"}"#) == ["body → json:/img → base64 → json:/u"])
        var wrapped = ""
        for (index, character) in blob.enumerated() {
            if index > 0, index % 64 == 0 { wrapped += "\r\n" }
            wrapped.append(character)
        }
        #expect(
            bodyPlaces("-----BEGIN X-----\r\n" + wrapped + "\r\n-----END X-----\r\n") == ["body → base64 → json:/u"])
        let claims = Data(#"{"sub":"1","link":"\#(url)"}"#.utf8).base64EncodedString().replacingOccurrences(
            of: "=", with: "")
        #expect(
            places(Samples.request(fields: [("Authorization", "Bearer eyJhbGciOiJIUzI1NiJ9.\(claims).c2ln")]))
                == ["header:authorization → base64 → json:/link"])
        let part =
            "--x1\r\nContent-Disposition: form-data; name=\"note\"\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n"
            + "link =70hs_\(Samples.token.dropFirst(4).prefix(9))=\r\n\(Samples.token.dropFirst(13)) end\r\n--x1--\r\n"
        #expect(bodyPlaces(part, type: "multipart/mixed; boundary=x1") == ["body → multipart:note → quoted-printable"])
        #expect(
            bodyPlaces(
                "--x1\r\nContent-Disposition: form-data; name=\"f\"; filename=\"\(Samples.token).txt\"\r\n\r\nhello\r\n--x1--\r\n",
                type: "multipart/form-data; boundary=x1") == ["body → multipart:f"])
    }

    @Test("declared content codings: several, mislabelled, unknown, cut")
    func contentCodings() {
        var scanner = Samples.scanner()
        let json = Array(#"{"u":"\#(Samples.url)"}"#.utf8)
        let gzip = deflated(json, windowBits: 31)
        func scan(_ coding: String, _ body: [UInt8], isComplete: Bool = true) -> ScanResult {
            var request = Samples.request(fields: [("Content-Encoding", coding)], body: body)
            request.body.isComplete = isComplete
            return scanner.scan(request)
        }
        #expect(scan("gzip", gzip).hits.map(\.place) == ["body → gzip → json:/u"])
        // A stored block of the outer coding shows the inner stream already: either chain is true.
        let twice = scan("deflate, gzip", deflated(deflated(json, windowBits: 15), windowBits: 31)).hits
        #expect(twice.count == 1 && twice.first?.chain.suffix(2) == ["deflate", "json:/u"])
        #expect(scan("deflate", deflated(json, windowBits: -15)).hits.map(\.place) == ["body → deflate → json:/u"])
        #expect(scan("br", gzip).hits.map(\.place) == ["body → gzip → json:/u"])
        #expect(scan("gzip", json).hits.map(\.place) == ["body → json:/u"])
        #expect(scan("identity", gzip).hits.map(\.place) == ["body → gzip → json:/u"])
        let unknown = scan("aes128gcm", Array("0123456789abcdef0123456789".utf8))
        #expect(unknown.hits.isEmpty)
        #expect(unknown.gaps == [ScanGap(reason: .undecodable("aes128gcm"), place: "body")])
        #expect(unknown.hasUndecodable && !unknown.isWhole)
        #expect(scan("gzip", Array(gzip.dropLast(12))).hasUndecodable)
        #expect(!scan("gzip", Array(gzip.dropLast(12)), isComplete: false).hasUndecodable)
        // Made with `brotli -q 11` and `zstd -19` of a text that holds the sample URL.
        for (coding, base64) in Self.coded {
            #expect(
                scan(coding, Array(Data(base64Encoded: base64) ?? Data())).hits.map(\.place) == [
                    "body → \(coding) → json:/events/3/link → base64"
                ])
        }
        #expect(
            scanner.scan(bytes: Array(Data(base64Encoded: Self.coded["zstd"] ?? "") ?? Data()), location: "message")
                .hits.map(\.place) == ["message → zstd → json:/events/3/link → base64"])
    }

    static let coded = [
        "br": "HzQBYIzDOIZ8IIah3Y+QOf1iXanebEhvn5UAvZpFp6uPTo75jD9gi5I8zCzGCCKBSmDITcbTAwVlxL/QAs0vWAFCkDCIgdFa"
            + "JS23egCeecOh4cTFbh822vT6LCx1cVkY6qtx0cCFbeeiaeeqcu+g4UebljU9NwRWC2VaJWgndn1Jcw39g7ciKrDOJ5wKajGV"
            + "0RfGBccj/AOW9BkQ0qL2MiQqmy5DNBg=",
        "zstd": "KLUv/QRoBQUAUkojGCB7A4JWt1+Op0dHHZSTg+TIFLixgIDA8e8DpYr2ECj1aZKfPMjDnLv+Afe+ooBSw2BrMK9p2K0XTZhK"
            + "nTbTMlZ9WfSg54KsjUWTVkBnH7B2Y2+1rqySOKsIiDPKXJppUFnfRLYeYdQuTRY2lj75kYfkB792vHcpq8M1eJ/rbn7yuuz4"
            + "u1vyaMr1qt8NBQBZekkjXKDI5Bzg+SnmGMbDsss=",
    ]

    @Test("names: DNS with 0x20 case, split over labels, server names")
    func names() throws {
        var scanner = Samples.scanner()
        func lookup(_ name: String) -> [String] {
            scanner.scan(
                NameLookup(
                    connection: ConnectionID(0), seen: Samples.at, isResponse: false, isMulticast: false,
                    name: HostName(name), rawName: Array(name.utf8), type: 1)
            ).hits.map(\.place)
        }
        #expect(lookup("PhS_zK3vQ9Xt1bLr7_MwYc2-HdNs8uEj5PaG.sink.example") == ["dns-name"])
        #expect(lookup("phs_zk3vq9xt1b.lr7_mwyc2-hdns8uej5pag.sink.example") == ["dns-name"])
        #expect(lookup("phs_SomeOtherTokenOfSixteen.sink.example") == ["dns-name"])
        #expect(lookup("phs_x.some-long-host.and-more.example").isEmpty)
        #expect(lookup("www.chia.health").isEmpty)
        let name = try #require(HostName("a.\(Samples.token).sink.example"))
        #expect(scanner.scan(serverName: name).hits.map(\.place) == ["server-name"])
    }

    @Test("messages, responses, pushed exchanges")
    func otherSources() {
        var scanner = Samples.scanner()
        let exchange = ExchangeID(connection: ConnectionID(0), index: 0)
        let payload = Array(#"["e",{"u":"\#(Samples.url)"}]"#.utf8)
        let message = Message(
            exchange: exchange, from: .client, kind: .text,
            payload: Body(bytes: payload, length: payload.count, missing: 0, isComplete: true, isCut: false),
            started: Samples.at, ended: Samples.at, frames: 1)
        #expect(scanner.scan(message).hits.map(\.place) == ["message → json:/1/u"])
        var fields = FieldSection()
        fields.append("Location", Samples.url)
        let response = Response(status: 302, reason: "", fields: fields, started: Samples.at, ended: Samples.at)
        #expect(scanner.scan(response).hits.map(\.place) == ["header:location"])
        let leaking = Samples.request(body: payload)
        var whole = Exchange(
            id: exchange, version: .http2, request: leaking, response: response, end: .complete, ended: Samples.at)
        #expect(scanner.scan(whole).hits.map(\.place) == ["body → json:/1/u"])
        whole.isPushed = true
        #expect(scanner.scan(whole) == .clean)
    }

    @Test("nothing printable shows the value")
    func nothingShows() {
        var scanner = Samples.scanner()
        let request = Samples.request(
            "/\(Samples.token)?\(Samples.token)=\(Samples.token)", fields: [("X-\(Samples.token)", Samples.token)],
            body: Array(#"{"\#(Samples.token)":"\#(Samples.url)","x":"phs_anotherTokenOfThisShape99"}"#.utf8))
        let result = scanner.scan(request)
        #expect(result.hits.count >= 5)
        var dumped = ""
        dump(result, to: &dumped)
        let shown =
            String(describing: result) + String(reflecting: result) + dumped + result.hits.map(\.place).joined()
            + result.hits.map(\.fieldTemplate).joined() + String(describing: scanner)
        #expect(!shown.contains(Samples.token.dropFirst(4)))
        #expect(!shown.contains("anotherTokenOfThisShape99"))
    }

    @Test("a template of the place has no positions")
    func fieldTemplate() {
        var scanner = Samples.scanner()
        let hit = scanner.scan(Samples.request(body: Array(#"{"events":[1,{"link":"\#(Samples.url)"}]}"#.utf8))).hits
            .first
        #expect(hit?.fieldTemplate == "body → json:/events/*/link")
        #expect(hit?.kindName == "handoff-url")
    }

    @Test("needles that say too little are not searched, needles learned twice count once")
    func weakNeedles() {
        var scanner = LeakScanner(redactor: Samples.redactor)
        for (number, value) in ["7", "abc", "aaaaaaaaaaaaaaaa", "12345678"].enumerated() {
            scanner.learn(needle: Needle(number: number, kind: .catalogID, label: "C", value: value))
        }
        #expect(scanner.scan(Samples.request(body: Array("7 abc aaaaaaaaaaaaaaaa 12345678".utf8))).hits.isEmpty)
        let needle = Needle(number: 9, kind: .catalogID, label: "C#9", value: "glp1-semaglutide-0042")
        scanner.learn(needle: needle)
        scanner.learn(needle: needle)
        let hits = scanner.scan(Samples.request(body: Array("id=GLP1-semaglutide-0042".utf8))).hits
        #expect(hits.map(\.match) == [.known(needle, .value)])
        #expect(hits.first?.isHandoffToken == false)
    }
}
