internal import Glibc

/// A process that this one starts, and waits for.
struct ChildProcess {
    let id: pid_t

    /// Starts a program that is found by PATH; its output goes to files, or where ours goes.
    init(_ words: [String], output: String? = nil, error: String? = nil) throws(CorpusError) {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        if let output { posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0o644) }
        if let error { posix_spawn_file_actions_addopen(&actions, 2, error, O_WRONLY | O_CREAT | O_TRUNC, 0o644) }
        // Threads of event loops block signals, and a child would inherit that.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var arguments = words.map { strdup($0) } + [nil]
        defer { for text in arguments { free(text) } }
        var id: pid_t = 0
        let code = posix_spawnp(&id, words[0], &actions, &attributes, &arguments, environ)
        guard code == 0 else { throw CorpusError("\(words[0]): \(String(cString: strerror(code)))") }
        self.id = id
    }

    /// Waits for its end; its exit status, or 128 and the signal's number.
    func wait() -> Int32 {
        var status: Int32 = 0
        while waitpid(id, &status, 0) < 0, errno == EINTR {}
        return Self.exitStatus(status)
    }

    /// Sends it a signal.
    func signal(_ number: Int32) {
        kill(id, number)
    }

    /// Runs a program to its end.
    static func run(_ words: [String]) throws(CorpusError) {
        let status = try ChildProcess(words).wait()
        guard status == 0 else { throw CorpusError("\(words.joined(separator: " ")): exit status \(status)") }
    }

    static func exitStatus(_ status: Int32) -> Int32 {
        status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + (status & 0x7F)
    }
}

/// What went wrong with the corpus, in words.
struct CorpusError: Error, CustomStringConvertible {
    var description: String

    init(_ description: String) {
        self.description = description
    }
}
