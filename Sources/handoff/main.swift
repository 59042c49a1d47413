import CommandLine
import Glibc

// A reader that closes the pipe early must not kill the process before its exit status is known.
signal(SIGPIPE, SIG_IGN)
let console = Console.process
var status = Handoff(environment: Handoff.processEnvironment, console: console).run(Handoff.processWords)
if let failure = Console.outputFailure {
    console.talk("handoff: \(failure)\n")
    // A violation that was found stays one.
    if status != .violation { status = .usage }
}
exit(status.rawValue)
