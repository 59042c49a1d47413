import SessionTrace
import Testing

@testable import Assertions

/// Which connections are withheld, by their first head and by what was opened before; and relations in two recordings.
@Suite struct JourneySorterTests {
    private static let device = Endpoint(address: IPAddress(ipv4: 0x0A00_0002), port: 40_000)
    private static let other = Endpoint(address: IPAddress(ipv4: 0x0A00_0003), port: 40_000)
    private static let place = PacketReference(number: 0, time: Instant(nanoseconds: 1))
    private static let chrome =
        "Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36"

    private static func sorter() throws -> JourneySorter {
        JourneySorter(
            policy: try Policy.parse(yaml: "hosts:\n  partner: [api.partner.example]\n", file: "handoff.yml"),
            installationKey: [1, 2, 3])
    }

    private static func request(_ host: String, _ agent: String?, _ more: [(String, String)] = [], target: String = "/")
        -> Request
    {
        var fields = FieldSection()
        fields.append("host", host)
        if let agent { fields.append("user-agent", agent) }
        for (name, value) in more { fields.append(name, value) }
        return Request(
            method: "GET", target: target, scheme: "https", authority: host, fields: fields, started: place,
            ended: place)
    }

    private static let navigation = [
        ("sec-fetch-site", "none"), ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document"),
    ]

    /// What becomes of a connection: nil when it is not even held back.
    private static func decide(
        _ sorter: inout JourneySorter, _ host: String, _ agent: String?, _ more: [(String, String)] = [],
        on device: Endpoint = device
    ) -> String? {
        let connection = JourneyConnection(client: device, serverName: HostName(host))
        let knowledge = JourneyKnowledge()
        guard sorter.mayWithhold(connection, knowing: knowledge) else { return nil }
        switch sorter.decide(connection, first: request(host, agent, more), knowing: knowledge) {
        case .record: return "record"
        case .withhold(let attributes): return attributes["actor"]
        }
    }

    @Test func sortsByActorAndHost() throws {
        var sorter = try Self.sorter()
        #expect(Self.decide(&sorter, "sdk.example", Self.chrome, Self.navigation) == nil, "Chia was not opened")
        #expect(Self.decide(&sorter, "chia.health", "okhttp/4.12.0") == "record")
        #expect(Self.decide(&sorter, "chia.health", nil) == "unknown")
        #expect(Self.decide(&sorter, "api.chia.health", Self.chrome) == "unknown", "a browser's User-Agent alone")
        #expect(!sorter.hasOpenedChia(on: Self.device.address), "nobody but the browser opens it")
        #expect(Self.decide(&sorter, "chia.health", Self.chrome, Self.navigation) == "browser")
        #expect(sorter.hasOpenedChia(on: Self.device.address))
        #expect(Self.decide(&sorter, "sdk.example", Self.chrome, Self.navigation) == "browser")
        #expect(Self.decide(&sorter, "sdk.example", "okhttp/4.12.0") == "record")
        #expect(Self.decide(&sorter, "sdk.example", nil) == "record", "a leak hides in bodies")
        #expect(Self.decide(&sorter, "sdk.example", Self.chrome) == "record")
        #expect(Self.decide(&sorter, "sdk.example", Self.chrome, [("referer", "https://chia.health/")]) == "unknown")
        #expect(Self.decide(&sorter, "api.partner.example", Self.chrome, Self.navigation) == nil)
        #expect(Self.decide(&sorter, "sdk.example", Self.chrome, Self.navigation, on: Self.other) == nil)
    }

    @Test func withoutAHeadTheSafeSideIsThePersons() throws {
        var sorter = try Self.sorter()
        let connection = JourneyConnection(client: Self.device, requestedHost: HostName("chia.health"))
        guard case .withhold(let attributes) = sorter.decide(connection, first: nil, knowing: JourneyKnowledge()) else {
            Issue.record("bytes to Chia that are no request are withheld")
            return
        }
        #expect(attributes["host"] == "chia.health" && attributes["actor"] == "unknown")
    }

    /// Two devices have recordings of their own, whose packets have the same numbers.
    @Test func relationsAreOfTheDevicesOwnRecording() throws {
        var sorter = try Self.sorter()
        func attributes(_ known: String, _ target: String) -> [String: String] {
            var knowledge = JourneyKnowledge()
            knowledge.handoffs = [
                .init(packet: 12, text: known, token: WebAddress(known)?.token, address: WebAddress(known))
            ]
            let exchange = Exchange(
                id: ExchangeID(connection: ConnectionID(0), index: 0), version: .http11,
                request: Self.request("short.example", Self.chrome, Self.navigation, target: target), end: .complete,
                ended: Self.place)
            return sorter.attributes(
                of: exchange, on: JourneyConnection(client: Self.device), knowing: knowledge)
        }
        let first = ScriptedSession.url
        let second = ScriptedSession.otherURL
        let hex = { (url: String) in url.utf8.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
        #expect(attributes(first, "/?u=\(hex(first))")["u"] == "12")
        let own = attributes(second, "/?u=\(hex(second))")
        #expect(own["to-u"] == "contains-token" && own["u"] == "12")
        let foreign = attributes(second, "/?u=\(hex(first))")
        #expect(foreign["to-u"] == "contains-token" && foreign["u"] == nil)
    }

    @Test func addressesAreComparedAsABrowserWritesThem() throws {
        var knowledge = JourneyKnowledge()
        knowledge.handoffs = [
            .init(
                packet: 3, text: "https://chia.health/a/../h|x/phs_abc", token: "phs_abc",
                address: WebAddress("https://chia.health/a/../h|x/phs_abc"))
        ]
        knowledge.neutrals = try [.init(reference: "5/0", address: #require(WebAddress(ScriptedSession.neutral)))]
        func closeness(_ url: String) -> (JourneyCloseness, JourneyCloseness) {
            let relation = knowledge.relation(of: url)
            return (relation.toHandoff, relation.toNeutral)
        }
        #expect(closeness("https://chia.health/a/../h|x/phs_abc#f") == (.equal, .other))
        #expect(closeness("https://CHIA.health:443/h%7Cx/phs_abc") == (.equalNormalised, .other))
        #expect(closeness("https://chia.health/a/../h|x/phs_abc?q=1") == (.variant, .other))
        #expect(closeness("https://short.example/phs_abc") == (.containsToken, .other))
        #expect(closeness("https://chia.health/h/phs_other") == (.containsToken, .other))
        #expect(closeness(ScriptedSession.neutral + "/") == (.other, .variant))
        #expect(closeness("https://chia.health/") == (.other, .other))
    }
}
