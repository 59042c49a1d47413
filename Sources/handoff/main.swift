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
let console = Console.process
var status = Handoff(environment: environment, console: console).run(Array(Swift.CommandLine.arguments.dropFirst()))
if let failure = Console.outputFailure {
    console.talk("handoff: \(failure)\n")
    // A violation that was found stays one.
    if status != .violation { status = .usage }
}
exit(status.rawValue)
