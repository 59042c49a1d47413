import SessionTrace
import Testing

@testable import HandoffProxy

@Suite struct FaultTableTests {
    static func table(_ faults: String..., only: String? = nil) throws -> FaultTable {
        let table = FaultTable { host in only.map { host.text == $0 } ?? true }
        for fault in faults { _ = table.add(try FaultRule(parsing: fault)) }
        return table
    }

    @Test func holdsOnlyConcernedHostsToHTTP1() throws {
        let api = try #require(HostName("api.example.com"))
        let other = try #require(HostName("cdn.example.net"))
        let anywhere = try Self.table("POST /s: 503 once", only: "api.example.com")
        #expect(anywhere.restrictsToHTTP1(host: api, port: 443))
        #expect(!anywhere.restrictsToHTTP1(host: other, port: 443))
        // A host that the fault itself names needs no role.
        let named = try Self.table("POST cdn.example.net:443/s: 503", only: "api.example.com")
        #expect(named.restrictsToHTTP1(host: other, port: 443))
        #expect(!named.restrictsToHTTP1(host: other, port: 8443))
        #expect(!named.restrictsToHTTP1(host: api, port: 443))
    }

    @Test func actsOnConnectionsOpenedAfterItWasSet() throws {
        let host = try #require(HostName("api.example.com"))
        let table = try Self.table("POST /early: 503")
        var before = try #require(table.stage(host: host, port: 443))
        let later = try #require(table.add(try FaultRule(parsing: "POST /s: 503 once")))
        var after = try #require(table.stage(host: host, port: 443))
        let request = Array("POST /s HTTP/1.1\r\nContent-Length: 0\r\n\r\n".utf8)
        #expect(request.withUnsafeBytes { before.client($0, at: FaultScript.now) } == [.toOrigin(request)])
        #expect(request.withUnsafeBytes { after.client($0, at: FaultScript.now) }.count == 2)
        #expect(table.statuses.map(\.fired) == [0, 1])
        #expect(table.statuses.last?.isSpent == true)
        #expect(table.remove(id: later.id))
        #expect(!table.remove(id: later.id))
        table.clear()
        #expect(table.stage(host: host, port: 443) == nil)
        #expect(table.report.isClean)
    }

    @Test func onceIsOnceAcrossConnections() throws {
        let host = try #require(HostName("api.example.com"))
        let table = try Self.table("POST /s: drop-before-request once")
        var stages = (0..<8).compactMap { _ in table.stage(host: host, port: 443) }
        let request = Array("POST /s HTTP/1.1\r\nContent-Length: 0\r\n\r\n".utf8)
        var closed = 0
        for index in stages.indices {
            let actions = request.withUnsafeBytes { stages[index].client($0, at: FaultScript.now) }
            if actions.contains(.close) { closed += 1 }
        }
        #expect(closed == 1)
        #expect(!table.restrictsToHTTP1(host: host, port: 443))
    }

    @Test func firstOfTwoActsUntilItIsSpent() throws {
        let script = FaultScript(
            faults: ["POST /s: 503 once", "POST /{any}: 500 once"],
            steps: (0..<3).map { _ in .client("POST /s HTTP/1.1\r\nContent-Length: 0\r\n\r\n") })
        #expect(try script.run().filter { $0.hasPrefix("fault") } == ["fault 0: 503", "fault 1: 500"])
    }

    @Test func reportNamesWhatNeverFiredAndWhatCameNear() throws {
        let table = FaultTable()
        let steps: [FaultScript.Step] = [
            "GET /handoff-session", "POST /handoff-sesion?token=phs_secret", "POST /v2/handoff-session",
            "POST /unrelated/thing/entirely-different", "POST /h/phs_abcdefgh/handoff-session",
        ].map { .client("\($0) HTTP/1.1\r\n\r\n") }
        _ = try FaultScript(faults: ["POST /handoff-session: 503 once"], steps: steps).run(table: table)
        let report = table.report
        #expect(!report.isClean)
        #expect(
            report.unfired.first?.nearMisses == [
                "GET api.example.com/handoff-session", "POST api.example.com/handoff-sesion",
                "POST api.example.com/v2/handoff-session", "POST api.example.com/h/{…}/handoff-session",
            ])
        #expect(report.sentences.count == 1)
        #expect(!report.sentences.joined().contains("phs_"))
    }

    @Test func limitsHold() throws {
        let table = FaultTable()
        let rule = try FaultRule(parsing: "POST /aaaa: 503")
        for _ in 0..<FaultTable.ruleLimit { #expect(table.add(rule) != nil) }
        #expect(table.add(rule) == nil)
        table.clear()
        var steps: [FaultScript.Step] = []
        for letter in "abcdefghijkl" { steps.append(.client("POST /aaa\(letter)x HTTP/1.1\r\n\r\n")) }
        _ = try FaultScript(faults: ["POST /aaaa: 503"], steps: steps).run(table: table)
        #expect(table.statuses.first?.nearMisses.count == FaultTable.nearMissLimit)
    }

    @Test func aClientThatCanNotBeHeldToHTTP1IsReported() throws {
        let host = try #require(HostName("api.example.com"))
        let table = try Self.table("POST /s: 503 once")
        let records = table.missed(host: host, port: 443, reason: "the client offers HTTP/2 alone")
        #expect(records.first?.attributes["detail"] == "fault-not-injected: the client offers HTTP/2 alone")
        #expect(records.first?.attributes["rule"] == "POST /s: 503 once")
        #expect(table.report.sentences.count == 1)
        #expect(!table.report.isClean)
    }

    /// A client that pipelines without end, and one that sends on behind a request for an upgrade.
    @Test func streamsAreFollowedWithinBounds() throws {
        let one = "GET /a HTTP/1.1\r\n\r\n"
        let many = String(repeating: one, count: FaultStage.openLimit + 10)
        let pipelined = try FaultScript(faults: ["POST /s: 503"], steps: [.client(many)]).run()
        #expect(FaultStageTests.bySide(pipelined)[0] == many)
        #expect(pipelined.contains { $0.hasPrefix("fault fault-not-injected") })

        let upgrade = "GET /a HTTP/1.1\r\nUpgrade: x\r\n\r\n"
        let long = String(repeating: "x", count: FaultStage.heldLimit + 1)
        let held = try FaultScript(faults: ["POST /s: 503"], steps: [.client(upgrade), .client(long)]).run()
        #expect(FaultStageTests.bySide(held)[0] == upgrade + long)

        let head = "GET /a HTTP/1.1\r\nX: " + String(repeating: "x", count: RequestReader.headLimit)
        let endless = try FaultScript(faults: ["POST /s: 503"], steps: [.client(head)]).run()
        #expect(FaultStageTests.bySide(endless)[0] == head)
    }
}
