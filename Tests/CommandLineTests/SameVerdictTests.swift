import Assertions
import CaptureAnalyzer
import Crypto
import EventLoop
import Foundation
import HandoffProxy
import Lab
import SessionTrace
import Testing

@testable import CommandLine

/// One session, three witnesses: the live judge, the recording read back, and a capture of the device's side by tcpdump,
/// read with the device's secrets.
///
/// Every rule says the same in these sessions. What rests on the proxy's own words, and could differ in others: HC-01, HR-46,
/// HR-47 and HR-59 where a client refused our certificate or an origin could not be reached; HC-02 where traffic around the
/// proxy was watched for; HC-06 where recording stopped early; HC-08 where a fault was injected that nothing exercised.
@Suite(.serialized, .enabled(if: DeviceCapture.isPossible, "needs tcpdump and the right to capture on lo"))
struct SameVerdictTests {
    @Test(arguments: LabScenario.all.map(\.name))
    func threeWitnessesAgree(name: String) async throws {
        let scenario = try #require(LabScenario.all.first { $0.name == name })
        let scratch = try Scratch()
        defer { scratch.remove() }
        let loops = try EventLoopGroup(count: 1)
        let hosts = try await MockHosts(on: loops.next())
        let console = Console(result: { _ in }, talk: { _ in })
        let policy = try Policy.parse(yaml: MockHosts.policy, file: "handoff.yml")
        var configuration = ProxyConfiguration()
        configuration.listeners = [ListenAddress(endpoint: Endpoint(address: IPAddress(ipv4: 0x7F00_0001), port: 0))]
        configuration.controlAddress = nil
        configuration.markAddress = nil
        configuration.upstreamAuthorities = try scratch.file("origins.pem", hosts.authorityCertificate)
        configuration.resolveOverrides = hosts.resolveOverrides.compactMap { ResolveOverride($0) }
        configuration.faults = scenario.faults
        configuration.chiaJourney = .record
        configuration.keyLogPath = scratch.path("device.keys")
        var judging = JudgeOptions()
        judging.installationKey = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]
        let session = try RecordSession(
            RecordSession.Settings(
                configuration: configuration, path: scratch.path("recording.pcapng"),
                authorityFolder: scratch.path("ca"), policy: policy, judging: judging),
            display: LiveDisplay(console: console, environment: [:], level: .alarms))
        try await session.start()
        let proxy = try #require(session.proxy.addresses.first)
        let capture = try DeviceCapture(port: proxy.port, path: scratch.path("capture.pcap"))
        let trusted = try scratch.file("ca.pem", session.authority.certificate.pem)
        let device = try ScriptedDevice(proxy: proxy, trusting: trusted, on: loops.next())
        try await LabSession(scenario, device: device, markAddress: session.control.markAddress).play()
        let outcome = await session.finish()
        try await capture.finish()
        await hosts.stop()
        await Task.detached { loops.stop() }.value

        let live = try #require(outcome.judged.first?.trace.verdict)
        let readBack = try Self.judge(scratch.path("recording.pcapng"), policy, judging)
        #expect(live == readBack)
        let violated = live.rules.filter { (rule: RuleResult) in rule.verdict == .fail && rule.severity == .error }
        #expect(Set(violated.map(\.id)) == scenario.violates)

        let captured = try Self.judge(
            scratch.path("capture.pcap"), policy, judging, keyLog: scratch.path("device.keys"))
        #expect(captured.rules.map(\.id) == readBack.rules.map(\.id))
        for (one, other) in zip(readBack.rules, captured.rules) {
            #expect(
                one.verdict == other.verdict,
                "\(one.id): \(one.sentence) says the recording, and the capture: \(other.sentence)")
        }
    }

    static func judge(
        _ path: String, _ policy: Policy, _ judging: JudgeOptions, keyLog: String? = nil
    ) throws -> TraceVerdict {
        var options = TraceOptions()
        if let keyLog { options.keyLogs = [keyLog] }
        var judge = SessionJudge(policy: policy, options: judging)
        _ = try TraceReader.read(path: path, options: options) { judge.receive($0) }
        return judge.finish()
    }
}

/// tcpdump on the loopback interface, between a device and the proxy.
final class DeviceCapture: @unchecked Sendable {
    // Sendable: used by one test after another step of itself, never at once.
    private let id: pid_t
    private let path: String
    private var isOver = false

    /// Whether this process may capture, and has something to capture with.
    static var isPossible: Bool { geteuid() == 0 && ToolRun.find("/usr/bin/tcpdump", "/usr/sbin/tcpdump") != nil }

    /// Starts it, and returns when it captures.
    init(port: UInt16, path: String) throws {
        self.path = path
        let tcpdump = ToolRun.find("/usr/bin/tcpdump", "/usr/sbin/tcpdump") ?? "tcpdump"
        let words = [tcpdump, "-i", "lo", "-U", "-B", "16384", "-s", "0", "-Z", "root", "-w", path, "tcp port \(port)"]
        var arguments = words.map { strdup($0) } + [nil]
        defer { for text in arguments { free(text) } }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        // Threads of the event loop block signals, and a child inherits that: this one has to hear SIGTERM.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var id: pid_t = 0
        guard posix_spawn(&id, tcpdump, &actions, &attributes, &arguments, nil) == 0 else {
            throw POSIXError(.ENOENT)
        }
        self.id = id
        for _ in 0..<1_000 {
            if Self.size(path) >= 24 { return }
            usleep(20_000)
        }
        throw POSIXError(.ETIMEDOUT)
    }

    deinit {
        guard !isOver else { return }
        kill(id, SIGKILL)
        waitpid(id, nil, 0)
    }

    /// Ends it when it has written everything that it has seen.
    func finish() async throws {
        var size = -1
        for _ in 0..<100 {
            try await Task.sleep(for: .milliseconds(200))
            let now = Self.size(path)
            if now == size { break }
            size = now
        }
        kill(id, SIGTERM)
        for _ in 0..<500 where !isOver {
            isOver = waitpid(id, nil, WNOHANG) == id
            try await Task.sleep(for: .milliseconds(20))
        }
        guard isOver else { throw POSIXError(.ETIMEDOUT) }
    }

    private static func size(_ path: String) -> Int {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : 0
    }
}
