import CommandLine
import Glibc

var environment: [String: String] = [:]
var entry = environ
while let text = entry.pointee {
    let parts = String(cString: text).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    if parts.count == 2 { environment[String(parts[0])] = String(parts[1]) }
    entry += 1
}
// A reader that closes the pipe early must not kill the process before its exit status is known.
signal(SIGPIPE, SIG_IGN)
let status = Handoff(environment: environment, console: .process).run(Array(Swift.CommandLine.arguments.dropFirst()))
exit(status.rawValue)
