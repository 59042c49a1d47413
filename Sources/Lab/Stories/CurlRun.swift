// One run of curl: a request in, its response and TLS secrets out.
internal import Glibc
internal import SessionTrace
internal import Synchronization

/// The app's request, made by curl in a process of its own.
struct CurlRun: Sendable {
    /// Where curl is.
    static let path = "/usr/bin/curl"

    /// Options ahead of the request.
    var options: [String]
    var request: LabRequest
    var host: String

    /// Whether this system has it.
    static var isThere: Bool { access(path, X_OK) == 0 }

    /// The response, and lines of the TLS key log.
    func run() async throws -> (response: LabResponse, secrets: [UInt8]) {
        var words = [Self.path, "-sS", "-i", "--suppress-connect-headers", "--max-time", "20"] + options
        words += request.method == "HEAD" ? ["--head"] : ["-X", request.method]
        for field in request.fields where field.name != "Host" { words += ["-H", "\(field.name): \(field.value)"] }
        if request.fields.allSatisfy({ $0.name.lowercased() != "content-type" }) { words += ["-H", "Content-Type:"] }
        if request.fields.allSatisfy({ $0.name.lowercased() != "accept" }) { words += ["-H", "Accept:"] }
        if !request.body.isEmpty || request.method == "POST" { words += ["--data-binary", "@-"] }
        words.append("https://\(host)\(request.target)")
        let (body, copy) = (request.body, words)
        // Waiting for another process blocks: not on the loop.
        let result = try await Task.detached { try Self.spawn(copy, input: body) }.value
        let secrets = result.error.split(separator: 0x0A).filter { line in
            line.starts(with: "CLIENT_".utf8) || line.starts(with: "SERVER_".utf8)
                || line.starts(with: "EXPORTER_".utf8)
        }.flatMap { $0 + [0x0A] }
        guard result.status == 0 else {
            let words = result.error.split(separator: 0x0A).filter { $0.starts(with: "curl:".utf8) }.joined()
            throw LostAnswer(reason: String(decoding: words, as: UTF8.self), secrets: secrets)
        }
        return (try Self.response(in: result.output), secrets)
    }

    /// No response came; what was learned of the connection all the same.
    struct LostAnswer: Error {
        var reason: String
        var secrets: [UInt8]
    }

    private static func response(in output: [UInt8]) throws(LabError) -> LabResponse {
        let end: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A]
        guard let head = output.indices.dropLast(3).first(where: { output[$0..<$0 + 4].elementsEqual(end) }) else {
            throw LabError("curl printed no response")
        }
        let lines = String(decoding: output[..<head], as: UTF8.self).split(separator: "\r\n")
        guard let status = lines.first?.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else {
            throw LabError("curl printed no status")
        }
        let fields = lines.dropFirst().map { line in
            let parts = line.split(separator: ":", maxSplits: 1).map(String.init)
            return (name: parts[0], value: String((parts.count > 1 ? parts[1] : "").drop { $0 == " " }))
        }
        if status < 200 { return try response(in: Array(output[(head + 4)...])) }
        return LabResponse(status, fields: fields, body: Array(output[(head + 4)...]))
    }

    private struct Result: Sendable {
        var status: Int32
        var output: [UInt8]
        var error: [UInt8]
    }

    private static func spawn(_ words: [String], input: [UInt8]) throws(LabError) -> Result {
        var toChild: [Int32] = [-1, -1]
        var fromChild: [Int32] = [-1, -1]
        var errors: [Int32] = [-1, -1]
        guard openPipe(&toChild), openPipe(&fromChild), openPipe(&errors) else { throw LabError("no pipe for curl") }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, toChild[0], 0)
        posix_spawn_file_actions_adddup2(&actions, fromChild[1], 1)
        posix_spawn_file_actions_adddup2(&actions, errors[1], 2)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var arguments = words.map { strdup($0) } + [nil]
        var environment = [strdup("SSLKEYLOGFILE=/dev/stderr"), strdup("HOME=/nonexistent"), nil]
        defer { for text in arguments + environment { free(text) } }
        var id: pid_t = 0
        let code = starting.withLock { _ in
            // Nothing that another run has just opened may be inherited.
            posix_spawn(&id, path, &actions, &attributes, &arguments, &environment)
        }
        for descriptor in [toChild[0], fromChild[1], errors[1]] { close(descriptor) }
        guard code == 0 else { throw LabError("curl does not start: \(String(cString: strerror(code)))") }
        // A body of the lab fits into a pipe.
        _ = input.withUnsafeBytes { write(toChild[1], $0.baseAddress, $0.count) }
        close(toChild[1])
        let output = everything(from: fromChild[0])
        let error = everything(from: errors[0])
        var status: Int32 = 0
        while waitpid(id, &status, 0) < 0, errno == EINTR {}
        return Result(status: status, output: output, error: error)
    }

    /// Held while pipes are made and while a process starts.
    private static let starting = Mutex(())

    private static func openPipe(_ ends: inout [Int32]) -> Bool {
        starting.withLock { _ in
            guard pipe(&ends) == 0 else { return false }
            return ends.allSatisfy { fcntl($0, F_SETFD, FD_CLOEXEC) == 0 }
        }
    }

    private static func everything(from descriptor: Int32) -> [UInt8] {
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            let count = read(descriptor, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return bytes }
            bytes += piece[..<count]
        }
    }
}
