import CommandLine
import Foundation
import Testing

/// `handoff ca`, checked with openssl.
@Suite struct CACommandsTests {
    private static let openssl = ToolRun.find("/usr/bin/openssl", "/usr/local/bin/openssl")

    @Test func exportsOneCertificateInEveryForm() throws {
        let scratch = try Scratch()
        defer { scratch.remove() }
        let openssl = try #require(Self.openssl, "openssl is not installed")
        let handoff = try #require(ToolRun.handoff, "the command is not built")
        let directory = scratch.path("ca")
        func export(_ format: String) throws -> String {
            // Through a file, as a person redirects it: DER is no text.
            let path = scratch.path("out.\(format)")
            let command = "exec '\(handoff)' ca export --format \(format) --ca-dir '\(directory)' > '\(path)'"
            #expect(try ToolRun("/bin/sh", ["-c", command]).status == 0)
            return path
        }
        func fingerprint(_ path: String, _ form: String) throws -> String {
            let run = try ToolRun(openssl, ["x509", "-in", path, "-inform", form, "-noout", "-fingerprint", "-sha256"])
            #expect(run.status == 0, "\(run.errors)")
            return String(run.output.split(separator: "=").last ?? "").trimmingCharacters(in: .whitespacesAndNewlines)
        }
        let pem = try fingerprint(export("pem"), "PEM")
        #expect(try fingerprint(export("der"), "DER") == pem)
        #expect(try fingerprint(export("android"), "PEM") == pem)
        let profile = try Data(contentsOf: URL(filePath: export("mobileconfig")))
        let list = try #require(
            PropertyListSerialization.propertyList(from: profile, format: nil) as? [String: Any])
        let payload = try #require((list["PayloadContent"] as? [[String: Any]])?.first)
        #expect(payload["PayloadType"] as? String == "com.apple.security.root")
        #expect((payload["PayloadContent"] as? Data) == (try Data(contentsOf: URL(filePath: scratch.path("out.der")))))

        let show = CommandRun(["ca", "show", "--ca-dir", directory])
        #expect(show.status == .conforming && show.result.contains(pem), "\(show.result)")
        let key = try FileManager.default.contentsOfDirectory(atPath: directory).filter {
            $0.contains("key") || $0.contains("secret")
        }
        for name in key {
            let attributes = try FileManager.default.attributesOfItem(atPath: "\(directory)/\(name)")
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }
    }

    @Test func resetAsksFirst() throws {
        let scratch = try Scratch()
        defer { scratch.remove() }
        let environment = ["XDG_DATA_HOME": scratch.path("data")]
        #expect(CommandRun(["ca", "show"], environment: environment).status == .unreadable)
        let first = CommandRun(["ca", "export"], environment: environment)
        #expect(first.status == .conforming && first.result.hasPrefix("-----BEGIN CERTIFICATE-----"))
        #expect(!first.result.contains("PRIVATE KEY"))
        #expect(CommandRun(["ca", "export"], environment: environment).result == first.result)
        let asked = CommandRun(["ca", "reset"], environment: environment)
        #expect(asked.status == .usage && asked.talk.contains("--yes"))
        #expect(CommandRun(["ca", "export"], environment: environment).result == first.result)
        #expect(CommandRun(["ca", "reset", "--yes"], environment: environment).status == .conforming)
        #expect(CommandRun(["ca", "show"], environment: environment).talk.contains("handoff ca export"))
        #expect(CommandRun(["ca", "export"], environment: environment).result != first.result)
    }

    @Test func binaryIsNotPutOnATerminal() throws {
        let scratch = try Scratch()
        defer { scratch.remove() }
        let run = CommandRun(["ca", "export", "--format", "der", "--ca-dir", scratch.path("ca")], columns: 80)
        #expect(run.status == .usage && run.talk.contains("redirect it"))
        #expect(CommandRun(["ca", "export", "--format", "p12"]).status == .usage)
    }
}
