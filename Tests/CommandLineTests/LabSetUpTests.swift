import Foundation
import Testing

/// The set-up of `docs/lab.md`, in network namespaces: `Scripts/check-lab.sh` has the checks, each of them is one here.
@Suite struct LabSetUpTests {
    @Test("every step of docs/lab.md that needs no phone works with the files of docs/lab as they are")
    func script() throws {
        guard let handoff = ToolRun.handoff else {
            Issue.record("the command handoff has not been built")
            return
        }
        let script = Places.root.appending(path: "Scripts/check-lab.sh").path
        let run = try ToolRun("/bin/bash", [script, handoff], seconds: 520)
        let lines = run.output.split(separator: "\n")
        // 77: not root, or a tool is not there; the script says which.
        if run.status == 77, let why = lines.first(where: { $0.hasPrefix("skipped") }) {
            print("LabSetUpTests \(why)")
            return
        }
        for (index, line) in lines.enumerated() where line.hasPrefix("FAILED") {
            let details = lines[(index + 1)...].prefix { $0.hasPrefix("    ") }
            Issue.record("\(([line] + details).joined(separator: "\n"))")
        }
        #expect(run.status == 0, "\(run.errors)")
        #expect(lines.contains { $0.hasSuffix("checks are ok") })
        #expect(lines.count { $0.hasPrefix("ok ") } >= 100)
    }

    @Test("a port that is taken ends the recorder at once, with a sentence")
    func portTaken() throws {
        guard let handoff = ToolRun.handoff else {
            Issue.record("the command handoff has not been built")
            return
        }
        let taken = try TakenPort()
        defer { taken.release() }
        let folder = try Scratch()
        defer { folder.remove() }
        let run = try ToolRun(
            handoff,
            [
                "record", "--listen", "127.0.0.1:\(taken.number)", "--control", "none", "--marks", "none", "--out",
                folder.path("session.pcapng"), "--ca-dir", folder.path("ca"),
            ], environment: ["XDG_DATA_HOME": folder.path("data"), "XDG_RUNTIME_DIR": folder.path("runtime")],
            seconds: 60)
        #expect(run.status == 2)
        #expect(run.errors.contains("127.0.0.1:\(taken.number)"), "\(run.errors)")
    }

    /// A TCP port of loopback that somebody listens on.
    private struct TakenPort {
        let number: UInt16
        private let descriptor: Int32

        init() throws {
            descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let descriptor = descriptor
            let result = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    bind(descriptor, address, length) | listen(descriptor, 1)
                        | getsockname(descriptor, address, &length)
                }
            }
            guard result == 0 else { throw POSIXError(.EADDRINUSE) }
            number = UInt16(bigEndian: address.sin_port)
        }

        func release() { close(descriptor) }
    }
}
