import Assertions
import Crypto
import SessionTrace
import Testing
import WireFormats

/// Recordings in which the proxy could not read, reach or intercept something: what it said of it decides, not what the
/// bytes look like. Never a pass that hides, never a fail that the app did not cause.
@Suite struct ProxyWordsTests {
    /// How a pinning client behaves.
    enum Pinning: String, CaseIterable, CustomTestStringConvertible {
        case alert, close, closeAfterFinished
        var testDescription: String { rawValue }
    }

    /// A client that does not take the certificate for `host`.
    private static func pin(
        _ script: inout TraceScript, _ host: String, _ how: Pinning, agent: String = TraceScript.app, at time: Double
    ) throws {
        let line = try script.secure(
            host, agent: agent, at: time, reach: how == .closeAfterFinished ? .finished : .certificate)
        switch how {
        case .alert:
            // A fatal alert in the clear: unknown_ca.
            script.writer.send(
                [21, 3, 3, 0, 2, 2, 48], from: .client, on: line.id, at: TraceScript.instant(time + 0.01))
            script.event(
                .leafRefused, ["name": host, "alert": "48", "how": "alert", "ja4": "x"], on: line.id, at: time + 0.02)
        case .close:
            script.event(.leafRefused, ["name": host, "how": "close", "ja4": "x"], on: line.id, at: time + 0.02)
        case .closeAfterFinished:
            script.event(.leafSuspected, ["name": host, "ja4": "x"], on: line.id, at: time + 0.02)
        }
        script.finish(line.id, at: time + 0.03)
    }

    @Test(arguments: Pinning.allCases) func aPinningAppLeavesOpenWhatNeedsItsHost(how: Pinning) throws {
        var script = try TraceScript()
        script.watch()
        script.mark(.launch, at: 0)
        script.mark(.browserClean, at: 0.1)
        try Self.pin(&script, "api.partner.example", how, at: 0.5)
        script.mark(.tap, .share, at: 4)
        try Self.pin(&script, "api.partner.example", how, at: 4.1)
        let (verdict, events, _) = try script.judge(endingAt: 80)
        let code = how == .closeAfterFinished ? "leaf-suspected" : "leaf-refused"
        for id in ["HR-02", "HR-07", "HR-08", "HR-09", "HR-11", "HR-13", "HR-14", "HR-46", "HR-47", "HC-01"] {
            let result = verdict[id]
            #expect(result.verdict == .inconclusive && result.reason?.code == code, "\(id)\n\(verdict.story)")
            #expect(result.reason?.remedy.contains("network_security_config") == true, "\(id)")
        }
        for id in ["HR-01", "HR-03"] { #expect(verdict[id].verdict == .pass, "\(id)\n\(verdict.story)") }
        #expect(!verdict.rules.contains { $0.verdict == .fail }, "\(verdict.story)")
        let reasons = events.compactMap { if case .blindSpot(let spot) = $0 { spot.reason } else { nil } }
        #expect(reasons.contains(how == .closeAfterFinished ? .leafSuspected : .leafRefused))
        #expect(!reasons.contains(.noKeys) && !reasons.contains(.unknownProtocol))
    }

    /// A browser's connection that it closes unused looks like pinning, unless the browser uses another one.
    @Test func aSpareConnectionIsNoPinning() throws {
        func session(_ spare: Bool) throws -> TraceVerdict {
            var script = try TraceScript()
            script.watch()
            try script.upToShare()
            try script.share(at: 4.1)
            if spare { try Self.pin(&script, "chia.health", .closeAfterFinished, agent: TraceScript.chrome, at: 4.4) }
            try script.browse("chia.health", "/h/\(TraceScript.token)", at: 4.6)
            return try script.judge(endingAt: 80).verdict
        }
        let with = try session(true)
        let without = try session(false)
        for rule in without.rules {
            #expect(rule.verdict == with[rule.id].verdict, "\(rule.id)\n\(with.story)")
        }
        #expect(with["HR-09"].verdict == .pass, "\(with.story)")
    }

    @Test func aPinnedTelemetryHostTouchesTheLeakRulesAlone() throws {
        var script = try TraceScript()
        script.watch()
        try script.upToShare()
        try script.share(at: 4.1)
        try script.browse("chia.health", "/h/\(TraceScript.token)", at: 4.6)
        try Self.pin(&script, "app-measurement.com", .alert, at: 20)
        let verdict = try script.judge(endingAt: 80).verdict
        for rule in verdict.rules where rule.id.hasPrefix("HR") {
            let isLeak = ["HR-46", "HR-47", "HR-48"].contains(rule.id)
            #expect((rule.reason?.code == "leaf-refused") == isLeak, "\(rule.id)\n\(verdict.story)")
        }
    }

    @Test func aConnectionPassedThroughIsNoMissingKey() throws {
        var script = try TraceScript()
        script.watch()
        try script.upToShare()
        let line = try script.secure("api.partner.example", agent: TraceScript.app, at: 4.1, keys: false)
        script.event(
            .passthrough, ["name": "api.partner.example", "reason": "asked"], on: line.id, at: 4.11)
        try script.say("POST /handoff-session HTTP/1.1\r\n\r\n", from: .client, on: line, at: 4.2)
        script.finish(line.id, at: 5)
        let (verdict, events, _) = try script.judge(endingAt: 80)
        #expect(verdict["HR-07"].reason?.code == "passthrough", "\(verdict.story)")
        #expect(verdict["HR-07"].reason?.remedy.contains("--passthrough") == true)
        #expect(!events.contains { if case .blindSpot(let spot) = $0 { spot.reason == .noKeys } else { false } })
    }

    @Test func aServicePassedThroughByDefaultIsTheSystems() throws {
        var script = try TraceScript()
        script.watch()
        try script.upToShare()
        try script.share(at: 4.1)
        try script.browse("chia.health", "/h/\(TraceScript.token)", at: 4.6)
        let line = try script.secure("albert.apple.example", agent: "x", at: 10, keys: false)
        script.event(
            .passthrough, ["name": "albert.apple.example", "reason": "default-list"], on: line.id, at: 10.01)
        try script.say("hello", from: .client, on: line, at: 10.2)
        script.finish(line.id, at: 11)
        let verdict = try script.judge(endingAt: 80).verdict
        #expect(verdict["HR-46"].verdict == .pass, "\(verdict.story)")
        #expect(verdict["HR-46"].assumptions.contains { $0.code == "os-services" })
    }

    // MARK: connections that came to nothing

    @Test func anAttemptThatFailedIsAContact() throws {
        var script = try TraceScript()
        try script.upToShare()
        let id = script.tunnel(to: "chia.health", agent: TraceScript.app, at: 3, answer: "502 Bad Gateway")
        script.event(.dialFailed, ["host": "chia.health", "port": "443", "reason": "refused"], on: id, at: 3.01)
        script.finish(id, by: .server, at: 3.1)
        let verdict = try script.judge(endingAt: 80).verdict
        #expect(verdict["HR-03"].verdict == .fail, "\(verdict.story)")
    }

    /// SOCKS: nothing but the proxy's word names the host.
    @Test func anAttemptWithoutAByteIsAContact() throws {
        var script = try TraceScript()
        script.mark(.launch, at: 0)
        try script.projection(at: 0.5)
        let id = script.open(at: 1)
        script.writer.send([5, 1, 0], from: .client, on: id, at: TraceScript.instant(1))
        script.writer.send([5, 0], from: .server, on: id, at: TraceScript.instant(1))
        script.writer.send(
            [5, 1, 0, 3, 11] + Array("chia.health".utf8) + [1, 187], from: .client, on: id, at: TraceScript.instant(1.1)
        )
        script.writer.send([5, 5, 0, 1, 0, 0, 0, 0, 0, 0], from: .server, on: id, at: TraceScript.instant(1.2))
        script.event(.dialFailed, ["host": "chia.health", "port": "443", "reason": "refused"], on: id, at: 1.2)
        script.finish(id, at: 1.3)
        script.mark(.tap, .share, at: 4)
        try script.share(at: 4.1)
        let verdict = try script.judge(endingAt: 80).verdict
        #expect(verdict["HR-01"].verdict == .fail, "\(verdict.story)")
        #expect(verdict["HR-03"].reason?.code == "actor-unknown", "\(verdict.story)")
    }

    @Test func aPageThatTheProxyCouldNotReachIsNotMissing() throws {
        for isTLS in [false, true] {
            var script = try TraceScript()
            script.watch()
            try script.upToShare()
            try script.share(at: 4.1)
            if isTLS {
                let line = try script.secure("chia.health", agent: TraceScript.chrome, at: 4.6, reach: .hello)
                script.writer.send([21, 3, 3, 0, 2, 2, 80], from: .server, on: line.id, at: TraceScript.instant(4.7))
                script.event(
                    .upstreamTLSFailed, ["name": "chia.health", "reason": "certificate has expired"], on: line.id,
                    at: 4.7)
                script.finish(line.id, by: .server, at: 4.8)
            } else {
                let id = script.tunnel(
                    to: "chia.health", agent: TraceScript.chrome, at: 4.6, answer: "502 Bad Gateway")
                script.event(.dialFailed, ["host": "chia.health", "reason": "refused"], on: id, at: 4.7)
                script.finish(id, by: .server, at: 4.8)
            }
            let verdict = try script.judge(endingAt: 80).verdict
            #expect(
                verdict["HR-09"].reason?.code == (isTLS ? "upstream-tls-failed" : "dial-failed"), "\(verdict.story)")
            // The script's bodies are short: what they lack is other rules' matter.
            let failed = verdict.rules.filter { $0.verdict == .fail && RuleCatalogue.headline.contains($0.id) }
            #expect(failed.isEmpty, "\(verdict.story)")
        }
    }

    @Test func aFaultThatCouldNotBeInjectedIsTold() throws {
        var script = try TraceScript()
        try script.upToShare()
        try script.share(at: 4.1)
        let id = script.tunnel(to: "api.partner.example", agent: TraceScript.app, at: 5)
        script.event(
            .fault, ["rule": "POST /handoff-session: 503 once", "detail": "fault-not-injected: only h2"], on: id, at: 5)
        let verdict = try script.judge(endingAt: 80).verdict
        #expect(verdict["HC-08"].reason?.code == "fault-not-injected", "\(verdict.story)")
    }

    // MARK: around the proxy

    @Test func whatWentAroundTheProxyIsABypass() throws {
        var script = try TraceScript()
        script.watch()
        try script.upToShare()
        try script.share(at: 4.1)
        try script.browse("chia.health", "/h/\(TraceScript.token)", at: 4.6)
        script.besideTheProxy(
            to: Endpoint(address: IPAddress(ipv4: 0xC633_6407), port: 443), payload: [9, 9, 9], at: 20)
        let (verdict, events, _) = try script.judge(endingAt: 80)
        for id in ["HC-02", "HR-01", "HR-03", "HR-05", "HR-46", "HR-47", "HR-59"] {
            #expect(verdict[id].reason?.code == "bypass", "\(id)\n\(verdict.story)")
        }
        #expect(verdict["HC-02"].reason?.sentence.contains("198.51.100.7:443") == true, "\(verdict.story)")
        guard case .traceEnded(let summary) = events.last else {
            Issue.record("a trace ends")
            return
        }
        #expect(summary.watchedForBypass && summary.layers.contains(.dns))
    }

    @Test func pushBesideTheProxyIsTheSystems() throws {
        var script = try TraceScript()
        script.watch()
        try script.upToShare()
        try script.share(at: 4.1)
        try script.browse("chia.health", "/h/\(TraceScript.token)", at: 4.6)
        script.besideTheProxy(
            to: Endpoint(address: IPAddress(ipv4: 0x1139_1007), port: 5_223), payload: [9, 9, 9], at: 20)
        let verdict = try script.judge(endingAt: 80).verdict
        #expect(verdict["HC-02"].verdict == .pass, "\(verdict.story)")
        #expect(verdict["HR-03"].assumptions.contains { $0.code == "os-services-beside" })
    }

    @Test func aSecondInterfaceThatSawNothingIsAWatch() throws {
        var script = try TraceScript()
        script.watch()
        try script.upToShare()
        try script.share(at: 4.1)
        try script.browse("chia.health", "/h/\(TraceScript.token)", at: 4.6)
        let verdict = try script.judge(endingAt: 80).verdict
        #expect(verdict["HC-02"].verdict == .pass && verdict["HC-02"].assumptions.isEmpty, "\(verdict.story)")
    }

    // MARK: the end

    @Test func aRecorderThatStoppedLeavesOpenWhatIsMissing() throws {
        var script = try TraceScript()
        script.watch()
        try script.upToShare()
        try script.share(at: 4.1)
        let verdict = try script.judge(endingAt: 5, isStoppedHard: true).verdict
        #expect(verdict["HR-09"].reason?.code == "recording-stopped", "\(verdict.story)")
        #expect(verdict["HR-46"].reason?.code == "recording-stopped", "\(verdict.story)")
        #expect(verdict["HR-11"].verdict == .pass && verdict["HR-02"].verdict == .pass, "\(verdict.story)")
    }
}

/// A recording with the heads alone against the same session recorded whole, as files.
@Suite struct WithheldRecordingTests {
    private static func record(_ version: TLSVersion, heads: Bool) throws -> (
        verdict: TraceVerdict, events: [SessionEvent], bytes: [UInt8]
    ) {
        var script = try TraceScript()
        script.version = version
        if heads {
            script.sorter = JourneySorter(
                policy: try TraceScript.policy(), installationKey: Array(repeating: 3, count: 32))
        }
        script.watch()
        try script.upToShare()
        try script.share(at: 4.1)
        try script.browse("chia.health", "/h/\(TraceScript.token)", at: 4.6)
        try script.browse("chia.health", "/intake/question-3", at: 6, fields: "Referer: https://chia.health/\r\n")
        try script.exchange(
            TraceScript.chrome, "POST", "app-measurement.com", "/collect?dl=\(TraceScript.token)", at: 7,
            fields: "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: cors\r\nSec-Fetch-Dest: empty\r\n"
                + "Referer: https://chia.health/\r\n", body: "answer=42")
        try script.browse("www.partner.example", "/", at: 30)
        try script.exchange(TraceScript.app, "POST", "app-measurement.com", "/a", at: 40, body: "event=app_open")
        return try script.judge(endingAt: 80)
    }

    @Test(arguments: [TLSVersion.tls12, .tls13]) func givesTheSameVerdict(version: TLSVersion) throws {
        let full = try Self.record(version, heads: false)
        let heads = try Self.record(version, heads: true)
        for rule in full.verdict.rules {
            let other = heads.verdict[rule.id]
            #expect(
                rule.verdict == other.verdict && rule.reason?.code == other.reason?.code,
                "\(rule.id)\n\(full.verdict.story)\n\n\(heads.verdict.story)")
        }
        #expect(heads.verdict["HR-09"].verdict == .pass, "\(heads.verdict.story)")
        let exchanges = heads.events.filter { event in
            if case .proxyEvent(let word) = event { word.kind == .exchange } else { false }
        }
        #expect(exchanges.count == 4)
        let reasons = heads.events.compactMap { if case .blindSpot(let spot) = $0 { spot.reason } else { nil } }
        #expect(reasons.contains(.withheld) && !reasons.contains(.noKeys))
    }

    @Test func nothingOfTheJourneyIsInTheFile() throws {
        let bytes = try Self.record(.tls13, heads: true).bytes
        for secret in ["question-3", "answer=42", "intake"] {
            #expect(!bytes.contains(secret.utf8), "\(secret)")
        }
        // The events name no URL; the token stands in the partner's answer alone, which is ciphertext.
        #expect(!bytes.contains(TraceScript.token.utf8))
    }
}
