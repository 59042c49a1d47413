internal import FoundationEssentials
internal import Glibc
internal import Lab

/// Plays and records one session, in a network namespace that this process has to itself.
struct PlayCommand {
    var session: PlannedSession
    var book: StoryBook
    /// Where the recording goes, without the end of its name.
    var path: String
    /// The policy of the story.
    var policy: String
    /// The program whose proxy records.
    var handoff: String

    func run() async throws {
        for command in LabNetwork.setUp { try ChildProcess.run(command) }
        let scratch = path + ".tmp"
        Files.remove(scratch)
        try Files.makeFolder(scratch)
        let stage = try await LabStage(session.story, of: book, over: session.transport)
        try Files.write(stage.authorityCertificate.utf8, to: "\(scratch)/origins.pem")
        if session.transport.via == .passive {
            try await capture(stage, scratch)
        } else {
            try await record(stage, scratch)
        }
        await stage.stop()
        if let share = session.story.captureOption("cut").flatMap(Int.init) { try cut(share) }
        Files.remove(scratch)
    }

    // MARK: Two ways to record

    private func record(_ stage: LabStage, _ scratch: String) async throws {
        let file = path + ".pcapng"
        Files.remove(file)
        let address = stage.network.isIPv6 ? "[\(stage.network.proxy)]" : "\(stage.network.proxy)"
        var words = [
            handoff, "record", "--listen", "\(address):\(LabNetwork.proxyPort)", "--out", file, "--policy", policy,
            "--ca-dir", "\(scratch)/ca", "--upstream-ca", "\(scratch)/origins.pem", "--control", "none", "--quiet",
            "--no-default-passthrough", "--chia-journey", session.story.captureOption("journey") ?? "record",
        ]
        for block in LabNetwork.hostBlocks { words += ["--allow-destination", block] }
        for override in stage.network.overrides { words += ["--resolve", override] }
        if let host = session.story.captureOption("passthrough") { words += ["--passthrough", host] }
        let log = "\(scratch)/record.log"
        let recorder = try ChildProcess(words, output: "/dev/null", error: log)
        var greeting: String?
        for _ in 0..<1_000 where greeting == nil {
            try await Task.sleep(for: .milliseconds(10))
            let text = (try? Files.text(log)) ?? ""
            greeting = text.split(separator: "\n").first { $0.hasPrefix("Marks: ") }.map(String.init)
        }
        guard let greeting, let end = greeting.firstIndex(of: "?") else {
            recorder.signal(SIGKILL)
            _ = recorder.wait()
            throw CorpusError("the recorder does not start: \((try? Files.text(log)) ?? "")")
        }
        let markAddress = String(greeting[..<end].dropFirst("Marks: ".count))
        let authority = Files.names(in: "\(scratch)/ca").first { $0.hasSuffix(".pem") && !$0.contains("key") } ?? ""
        do {
            let left = try await stage.play(
                through: LabStage.Proxy(markAddress: markAddress), trusting: "\(scratch)/ca/\(authority)")
            try writeMarks(left.marks)
        } catch {
            recorder.signal(SIGKILL)
            _ = recorder.wait()
            throw error
        }
        try await Task.sleep(for: .milliseconds(150))
        recorder.signal(SIGINT)
        let status = recorder.wait()
        guard [0, 1, 4].contains(status) else {
            throw CorpusError("the recorder ended with \(status): \((try? Files.text(log)) ?? "")")
        }
    }

    private func capture(_ stage: LabStage, _ scratch: String) async throws {
        let file = path + ".pcap"
        let length = session.story.captureOption("snaplen") ?? "0"
        let words = [
            "tcpdump", "-i", "lo", "-U", "--immediate-mode", "-B", "8192", "-s", length, "-Z", "root", "-w", file,
        ]
        Files.remove(file)
        let tcpdump = try ChildProcess(words, error: "\(scratch)/tcpdump.log")
        for _ in 0..<1_000 {
            if let log = try? Files.text("\(scratch)/tcpdump.log"), log.contains("listening on") { break }
            try await Task.sleep(for: .milliseconds(10))
        }
        try await Task.sleep(for: .milliseconds(30))
        let secrets: [String: [UInt8]]
        do {
            let left = try await stage.play(through: nil, trusting: "\(scratch)/origins.pem")
            secrets = left.secrets
            try writeMarks(left.marks)
        } catch {
            tcpdump.signal(SIGKILL)
            _ = tcpdump.wait()
            throw error
        }
        try await Task.sleep(for: .milliseconds(150))
        tcpdump.signal(SIGTERM)
        guard tcpdump.wait() == 0 else {
            throw CorpusError("tcpdump: \((try? Files.text("\(scratch)/tcpdump.log")) ?? "")")
        }
        let hidden = Set(
            session.story.capture.filter { $0.name == "keys-not" }.flatMap { $0.value.split(separator: ",") }
                .map(String.init))
        Files.remove(path + ".keys")
        guard session.story.captureOption("keys") != "none" else { return }
        let shown = secrets.keys.sorted().filter { !hidden.contains($0) }.flatMap { secrets[$0] ?? [] }
        try Files.write(shown, to: path + ".keys")
    }

    private func writeMarks(_ lines: [String]) throws(CorpusError) {
        Files.remove(path + ".marks.jsonl")
        guard !lines.isEmpty else { return }
        try Files.write(lines.map { $0 + "\n" }.joined().utf8, to: path + ".marks.jsonl")
    }

    /// Cuts the file after that share of its bytes (percent).
    private func cut(_ share: Int) throws(CorpusError) {
        let file = path + (session.transport.via == .passive ? ".pcap" : ".pcapng")
        guard truncate(file, Files.size(file) * share / 100) == 0 else { throw CorpusError("\(file): can't be cut") }
    }
}
