import Foundation
import HandoffProxy
import Testing

@testable import CommandLine

/// An address that is taken ends the recording before it begins, in one line that names it.
@Suite struct RecordListenersTests {
    /// A loopback port that somebody listens on.
    private final class TakenPort {
        let number: UInt16
        private let descriptor: Int32

        init() throws {
            descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let descriptor = descriptor
            let isListening = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, length) == 0 && listen(descriptor, 1) == 0
                        && getsockname(descriptor, $0, &length) == 0
                }
            }
            try #require(isListening)
            number = UInt16(bigEndian: address.sin_port)
        }

        deinit {
            close(descriptor)
        }
    }

    @Test(arguments: ["listen", "control"])
    func aTakenAddressIsNamed(option: String) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "taken-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let taken = try TakenPort()
        var places = ["listen": "127.0.0.1:0", "control": "none"]
        places[option] = "127.0.0.1:\(taken.number)"
        let words = [
            "record", "--out", folder.appending(path: "a.pcapng").path, "--for", "60s", "--marks", "none",
            "--listen", places["listen"] ?? "", "--control", places["control"] ?? "",
        ]
        let environment = ["XDG_DATA_HOME": folder.path, "XDG_RUNTIME_DIR": folder.path]
        // On a thread of its own: the command waits for tasks, which need the threads that tests run on.
        let run = await withCheckedContinuation { continuation in
            Thread { continuation.resume(returning: CommandRun(words, environment: environment)) }.start()
        }
        #expect(run.status == .usage)
        #expect(run.talk.contains("127.0.0.1:\(taken.number)") && run.talk.contains("in use"), "\(run.talk)")
    }

    /// A second recorder of the same user leaves the first one's control file alone, and says where its own is.
    @Test func anotherRecordersControlFileIsLeftAlone() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "second-\(UUID().uuidString)")
        let own = folder.appending(path: "handoff")
        try FileManager.default.createDirectory(at: own, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let first = try TakenPort()
        let usual = own.appending(path: "control.json").path
        try ControlFile(address: "127.0.0.1:\(first.number)", token: .random()).write(to: usual)
        let before = try Data(contentsOf: URL(filePath: usual))
        let words = [
            "record", "--out", folder.appending(path: "a.pcapng").path, "--for", "1s", "--marks", "none",
            "--listen", "127.0.0.1:0", "--control", "127.0.0.1:0",
        ]
        let environment = ["XDG_DATA_HOME": folder.path, "XDG_RUNTIME_DIR": folder.path]
        let run = await withCheckedContinuation { continuation in
            Thread { continuation.resume(returning: CommandRun(words, environment: environment)) }.start()
        }
        #expect(run.talk.contains("Another recorder runs here"), "\(run.talk)")
        #expect(try Data(contentsOf: URL(filePath: usual)) == before)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: own.path).filter { $0.hasPrefix("control") }.count == 1)
    }
}
