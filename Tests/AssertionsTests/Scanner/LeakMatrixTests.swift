import Assertions
import SessionTrace
import Testing

/// Needle × encodings to depth 2 × location: each is found, once, where it is, and its chain leads to it.
@Suite("LeakScanner: matrix")
struct LeakMatrixTests {
    /// A location and how to put a value there.
    struct Place: Sendable, CustomStringConvertible {
        var location: String
        var structure: [String]
        var takesBinary: Bool
        var request: @Sendable ([UInt8]) -> Request
        var description: String { ([location] + structure).joined(separator: " ") }
    }

    static let places: [Place] = [
        Place(location: "path", structure: [], takesBinary: false) {
            ScannerSamples.request("/a/" + text(inURL: $0) + "/b?x=1")
        },
        Place(location: "query:u", structure: [], takesBinary: false) {
            ScannerSamples.request("/a?k=1&u=" + text(inURL: $0) + "&z=2")
        },
        Place(location: "header:referer", structure: [], takesBinary: false) {
            ScannerSamples.request(fields: [("Referer", String(decoding: $0, as: UTF8.self)), ("Accept", "*/*")])
        },
        Place(location: "cookie:last", structure: [], takesBinary: false) {
            ScannerSamples.request(fields: [("Cookie", "sid=1; last=" + String(decoding: $0, as: UTF8.self) + "; c=3")])
        },
        Place(location: "trailer:x-note", structure: [], takesBinary: false) {
            ScannerSamples.request(trailers: [("X-Note", String(decoding: $0, as: UTF8.self))])
        },
        Place(location: "body", structure: [], takesBinary: true) {
            ScannerSamples.request(body: $0)
        },
        Place(location: "body", structure: ["json:/events/1/props/link"], takesBinary: false) {
            ScannerSamples.request(
                fields: [("Content-Type", "application/json")],
                body: Array("{\"events\":[{\"n\":1},{\"props\":{\"kind\":\"nav\",\"link\":".utf8) + json($0)
                    + Array("}}],\"sent\":true}".utf8))
        },
        Place(location: "body", structure: ["form:data"], takesBinary: false) {
            ScannerSamples.request(
                fields: [("Content-Type", "application/x-www-form-urlencoded")],
                body: Array("v=1&data=\(text(inURL: $0))&tid=UA-1".utf8))
        },
        Place(location: "body", structure: ["multipart:report"], takesBinary: true) {
            ScannerSamples.request(
                fields: [("Content-Type", "multipart/form-data; boundary=\"b0unDary\"")],
                body: Array(
                    ("--b0unDary\r\nContent-Disposition: form-data; name=\"kind\"\r\n\r\ncrash\r\n--b0unDary\r\n"
                        + "Content-Disposition: form-data; name=\"report\"; filename=\"r.bin\"\r\n\r\n").utf8) + $0
                    + Array("\r\n--b0unDary--\r\n".utf8))
        },
        Place(location: "body", structure: ["line:3", "json:/message"], takesBinary: false) {
            ScannerSamples.request(
                body: Array("{\"event_id\":\"9\"}\n{\"type\":\"event\"}\n{\"level\":\"error\",\"message\":".utf8)
                    + json($0)
                    + Array("}\n".utf8))
        },
    ]

    /// Percent-encoded where a URL needs it.
    private static func text(inURL bytes: [UInt8]) -> String {
        bytes.map { byte -> String in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E, 0x25, 0x2F, 0x3A:
                String(UnicodeScalar(byte))
            default: "%" + String(byte, radix: 16, uppercase: true)
            }
        }.joined()
    }

    private static func json(_ bytes: [UInt8]) -> [UInt8] { SampleEncoding.jsonEscaped(bytes) }

    static let chains: [[SampleEncoding]] =
        [[]] + SampleEncoding.allCases.map { [$0] }
        + SampleEncoding.allCases.flatMap { outer in
            SampleEncoding.allCases.filter { inner in inner.isText || outer.takesBinary }.map { [outer, $0] }
        }

    static let values = [ScannerSamples.url, ScannerSamples.token, ScannerSamples.token.lowercased()]

    @Test("found once, at its place, with a chain that leads to it", arguments: chains)
    func found(chain: [SampleEncoding]) {
        var scanner = ScannerSamples.scanner()
        for value in Self.values {
            let encoded = chain.reversed().reduce(Array(value.utf8)) { $1.encode($0) }
            for place in Self.places where place.takesBinary || chain.first?.isText ?? true {
                let request = place.request(encoded)
                let result = scanner.scan(request)
                #expect(result.gaps.isEmpty)
                #expect(result.hits.count == 1, "\(chain) of \(value) in \(place): \(result.hits.map(\.place))")
                guard let hit = result.hits.first else { continue }
                #expect(hit.location == place.location, "\(chain) in \(place)")
                #expect(
                    Array(hit.chain.prefix(place.structure.count)) == place.structure,
                    "\(chain) in \(place): \(hit.place)")
                #expect(hit.needle?.number == 1)
                #expect(
                    hit.chain.count <= place.structure.count + 2 * chain.count + 1, "\(chain) in \(place): \(hit.place)"
                )
                #expect(
                    Replay.leads(
                        from: Self.bytes(of: request, at: hit.location), through: hit.chain,
                        to: Array(ScannerSamples.token.utf8.dropFirst(4))),
                    "\(chain) in \(place): \(hit.place) does not lead there")
            }
        }
    }

    @Test("the shape alone is found too, when nothing was learned", arguments: chains)
    func shapeFound(chain: [SampleEncoding]) {
        var scanner = LeakScanner(redactor: ScannerSamples.redactor)
        let encoded = chain.reversed().reduce(Array(ScannerSamples.url.utf8)) { $1.encode($0) }
        for place in Self.places where place.takesBinary || chain.first?.isText ?? true {
            let result = scanner.scan(place.request(encoded))
            #expect(result.hits.count == 1, "\(chain) in \(place): \(result.hits.map(\.place))")
            #expect(result.hits.first?.match == .tokenShape)
            #expect(result.hits.first?.matchedDigest == ScannerSamples.redactor.digest(ScannerSamples.token))
        }
    }

    private static func bytes(of request: Request, at location: String) -> [UInt8] {
        switch location {
        case "path": return Array(request.path.utf8)
        case "query:u": return Array(request.pathAndQuery.split(separator: "&")[1].utf8)
        case "header:referer": return Array((request.fields.first("referer") ?? "").utf8)
        case "cookie:last": return Array((request.fields.first("cookie") ?? "").split(separator: ";")[1].utf8)
        case "trailer:x-note": return Array((request.trailers.first("x-note") ?? "").utf8)
        default: return request.body.bytes
        }
    }
}
