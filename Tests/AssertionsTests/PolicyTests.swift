import Assertions
import SessionTrace
import Testing

@Suite struct PolicyTests {
    private func issues(_ yaml: String) -> [String] {
        do throws(PolicyError) {
            _ = try Policy.parse(yaml: yaml, file: "handoff.yml")
            return []
        } catch {
            return error.description.split(separator: "\n").map(String.init)
        }
    }

    /// The example of the design, with the keys that it indents brought to their level.
    static let whole = """
        version: 1
        hosts:
          chia: [chia.health]
          chia-api: [api.chia.health]
          chia-assets: []
          partner: [api.partner.example]
          partner-assets: [img.partner.example]
          return: [www.partner.example]
          telemetry: [builtin, logs.partner.example]
          opaque-ok: [{host: "*.push.apple.com", reason: system push, expires: 2027-06-30}]
        requests:
          session:    {method: POST, path: /handoff-session, key: header Idempotency-Key, abandon-on: [disclosure-version, projection-withdrawn]}
          projection: {method: GET,  path: "/catalog/{id}/handoff"}
          status: []
          allow: []
          home: []
          foreground-allow: []
          catalog: []
        eligibility: remote
        strict-selection: false
        fields: {catalog-id: /catalogId, disclosure-version: /disclosureVersion, affirmed: /affirmed, affirmed-at: /affirmedAt,
                 projection: auto, image: /image, hidden: []}
        outcomes: {either: [408, 409, 425]}
        forbidden: {response-keys: [order_status, prescription], catalog-keys: [], secrets: ["whsec_*"], canaries: []}
        timing: {double-tap: 500ms, tap-to-request: 10s, url-lifetime: 15m, clock-error: 50ms, observe-after: 60s, hand-mark: 15s,
                 retry-horizon: 24h, url-margin: 0s}
        gate: headline
        must-exercise: []
        exceptions:
          - {rule: HR-48, fingerprint: 3fd1…, reason: "shop id, not a selection", owner: ana, expires: 2027-01-31}
        """

    @Test func theWholeSchemaIsRead() throws {
        let policy = try Policy.parse(yaml: Self.whole, file: "handoff.yml")
        #expect(policy.hosts.chiaAPI.map(\.description) == ["api.chia.health"])
        #expect(policy.hosts.opaqueOK.map(\.host.description) == ["*.push.apple.com"])
        #expect(policy.hosts.usesBuiltinTelemetry)
        #expect(policy.hosts.telemetry.map(\.description) == ["logs.partner.example"])
        #expect(policy.requests == Policy.defaults.requests)
        #expect(policy.timing == Policy.defaults.timing)
        #expect(policy.either == [408, 409, 425])
        var forbidden = Policy.defaults.forbidden
        forbidden.namesResponseKeys = true
        #expect(policy.forbidden == forbidden)
        #expect(policy.exceptions.first?.expires.description == "2027-01-31")
        #expect(policy.exceptions.first?.line == 30)
    }

    @Test(arguments: ["", "# nothing\n", "hosts:\n", "version: 1"]) func anEmptyPolicyIsTheDefault(text: String) throws
    {
        if text == "hosts:\n" {
            #expect(issues(text) == ["handoff.yml:1:7: \"hosts\" must be a mapping of keys, not nothing"])
            return
        }
        var expected = Policy.defaults
        expected.file = "handoff.yml"
        #expect(try Policy.parse(yaml: text, file: "handoff.yml") == expected)
    }

    @Test(arguments: [
        ("hots: {}", "handoff.yml:1:1: unknown key \"hots\"; did you mean \"hosts\"?"),
        (
            "hosts:\n  partnre: [a.example]",
            "handoff.yml:2:3: unknown key \"partnre\" in \"hosts\"; did you mean \"partner\"?"
        ),
        ("hosts:\n  partner: a.example", "handoff.yml:2:12: \"partner\" must be a list, not text"),
        ("hosts: {partner: [https://a.example]}", "must hold host names"),
        ("hosts: {partner: [\"a.example:443\"]}", "must hold host names"),
        ("hosts: {partner: [\"*foo.example\"]}", "must hold host names"),
        ("hosts: {partner: [a..example]}", "must hold host names"),
        (
            "timing:\n  double-tap: 500",
            "handoff.yml:2:15: \"double-tap\" must be a length of time such as 500ms, 10s, 15m or 24h, not \"500\""
        ),
        ("timing: {url-lifetime: -1s}", "must be a length of time"),
        ("timing: {url-lifetime: 99999999999h}", "must be a length of time"),
        ("strict-selection: yes", "must be true or false, not \"yes\""),
        ("strict-selection: \"true\"", "must be true or false"),
        (
            "eligibility: remtoe",
            "handoff.yml:1:14: unknown value \"remtoe\" for \"eligibility\"; did you mean \"remote\"?"
        ),
        ("version: 2", "version 2 is not known"),
        ("gate: headlines", "unknown profile \"headlines\" for \"gate\"; did you mean \"headline\"?"),
        ("gate: []", "handoff.yml:1:7: \"gate\" names no rule, and would let everything pass"),
        ("gate: [HR-99]", "handoff.yml:1:8: unknown rule \"HR-99\""),
        ("must-exercise: [duoble-tap]", "did you mean \"double-tap\"?"),
        ("requests: {session: {path: handoff-session}}", "must be a path such as"),
        ("requests: {session: {key: cookie x}}", "must be \"header NAME\" or \"body /pointer\""),
        ("requests: {session: {abandon-on: [never]}}", "unknown value \"never\""),
        ("requests: {status: [\"GET orders\"]}", "must hold templates"),
        ("fields: {catalog-id: catalogId}", "must be a JSON pointer"),
        ("outcomes: {either: [200]}", "must hold statuses from 400 to 499"),
        ("exceptions: [{rule: HR-48, reason: x, owner: y}]", "an exception needs \"expires\""),
        (
            "exceptions: [{rule: HR-48, fingerprint: abcd, reason: x, owner: y, expires: soon}]",
            "must be a day such as 2027-01-31, not \"soon\""
        ),
        ("exceptions: [{rule: HR-48, fingerprint: ab, reason: x, owner: y, expires: 2027-01-31}]", "at least 4 digits"),
        ("exceptions: [{rule: HR-48, reason: x, owner: y, expires: 2027-01-31}]", "needs a \"fingerprint\""),
        ("hosts: {opaque-ok: [{host: a.example}]}", "needs \"reason\""),
        ("a: [", "not YAML"),
        ("- a", "a policy must be a mapping of keys, not a list"),
        ("version: 1\nversion: 1", "handoff.yml:2:1: duplicate key \"version\"; it is already on line 1"),
        ("version: 1\n---\nversion: 1", "a second document"),
        ("[a]: 1", "a key must be text"),
    ]) func faultsNamePlaceAndRemedy(text: String, expected: String) {
        let found = issues(text)
        #expect(found.contains { $0.contains(expected) }, "\(found)")
        #expect(found.allSatisfy { $0.hasPrefix("handoff.yml:") })
    }

    @Test func severalFaultsAreToldAtOnceInOrder() {
        let found = issues("hosts:\n  partnre: []\ngates: x\ntiming: {double-tap: soon}\n")
        #expect(found.map { $0.split(separator: ":")[1] } == ["2", "3", "4"])
    }

    @Test func nestingAndAliasesAreBounded() {
        let deep = String(repeating: "[", count: 200) + String(repeating: "]", count: 200)
        #expect(issues("gate: \(deep)").contains { $0.contains("nested too deeply") })
        var bomb = "a: &a [x,x,x,x,x,x,x,x,x]\n"
        for (previous, next) in zip("abcdefgh", "bcdefghi") {
            bomb += "\(next): &\(next) [\(Array(repeating: "*\(previous)", count: 9).joined(separator: ","))]\n"
        }
        #expect(issues(bomb).contains { $0.contains("too many nodes") })
    }

    @Test func noMutationTraps() {
        var random = SplitMix(seed: 7)
        let bytes = Array(Self.whole.utf8)
        for _ in 0..<400 {
            var mutated = bytes
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let place = Int.random(in: 0..<mutated.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: mutated[place] = UInt8.random(in: 0...255, using: &random)
                case 1: mutated.remove(at: place)
                default: mutated.insert(UInt8.random(in: 32...126, using: &random), at: place)
                }
            }
            _ = issues(String(decoding: mutated, as: UTF8.self))
        }
    }

    @Test(arguments: [
        ("/catalog/{id}/handoff", "/catalog/abc/handoff", true), ("/catalog/{id}/handoff", "/catalog//handoff", false),
        ("/catalog/{id}/handoff", "/catalog/a/b/handoff", false), ("/handoff-session", "/handoff-session", true),
        ("/handoff-session", "/handoff-session/", false), ("/handoff-session", "/v2/handoff-session", false),
        ("/", "/", true),
    ]) func templatesMatchWholeSegments(template: String, path: String, matches: Bool) throws {
        #expect(try #require(PathTemplate(template)).matches(path) == matches)
    }

    @Test(arguments: [
        ("500ms", 500_000_000), ("10s", 10_000_000_000), ("15m", 900_000_000_000), ("24h", 86_400_000_000_000),
    ])
    func durations(text: String, nanoseconds: Int64) {
        #expect(Nanoseconds(text)?.count == nanoseconds)
    }

    @Test(arguments: [
        (180_000_000, "180 ms"), (1_234_000_000, "1.2 s"), (12_000, "12 µs"), (900_000_000_000, "15 min"),
        (86_400_000_000_000, "24 h"), (0, "0 s"),
    ]) func lengthsOfTimeForPeople(count: Int64, text: String) {
        #expect(Nanoseconds(count).description == text)
    }

    @Test func theTextOfANewPolicyIsAPolicy() throws {
        let bare = PolicyText.make()
        #expect(try Policy.parse(yaml: bare, file: "x").hosts == Policy.defaults.hosts)
        let session = ScriptedSession.conformingShare()
        var observation = PolicyObservation()
        for event in session.events() { observation.receive(event) }
        let text = PolicyText.make(from: observation.finish())
        let policy = try Policy.parse(yaml: text, file: "x")
        #expect(policy.hosts.partner.map(\.description) == ["api.partner.example"])
        #expect(text.contains("# "))
        #expect(!text.contains(ScriptedSession.token))
    }

    /// What no policy may name is not suggested: a registry's name, or one host for everything. A container's name is.
    @Test(
        arguments: [
            ("com", "https://chia.health/h/", []), ("lab.test", "https://lab.test/h/", []),
            ("backend", "https://chia.health/h/", ["backend"]),
        ] as [(String, String, [String])])
    func theTextOfALabsTraceIsAPolicy(host: String, url: String, named: [String]) throws {
        var session = ScriptedSession.upToTap()
        session.share(at: 4, url: url + ScriptedSession.token, host: host)
        var observation = PolicyObservation()
        for event in session.events() { observation.receive(event) }
        let suggestion = observation.finish()
        #expect(suggestion.partner == named)
        #expect(throws: Never.self) { try Policy.parse(yaml: PolicyText.make(from: suggestion), file: "x") }
    }

    @Test func theTextFindsTheUnnamedPathAndChiasHost() throws {
        var session = ScriptedSession.upToTap()
        session.share(at: 4, url: "https://chia.test/h/\(ScriptedSession.token)", path: "/api/start-handoff")
        var observation = PolicyObservation()
        for event in session.events() { observation.receive(event) }
        let policy = try Policy.parse(yaml: PolicyText.make(from: observation.finish()), file: "x")
        #expect(policy.requests.session.path.text == "/api/start-handoff")
        #expect(policy.hosts.chia.map(\.description) == ["chia.test"])
    }
}
