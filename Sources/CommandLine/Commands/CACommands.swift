internal import Crypto
internal import SessionTrace

/// What the commands about the certificate authority share.
enum AuthorityArguments {
    static let directory = OptionSyntax.value(
        "ca-dir", "DIR", "folder of the certificate authority; default under your data folder")

    /// The folder that is meant.
    static func directory(_ arguments: Arguments, _ handoff: Handoff) throws(UsageError) -> String {
        if let given = arguments.value("ca-dir") {
            guard !given.isEmpty else { throw UsageError(message: "--ca-dir needs a folder") }
            return given
        }
        guard let folder = DataFolder.path(handoff.environment) else {
            throw UsageError(message: "neither XDG_DATA_HOME nor HOME is set; give --ca-dir")
        }
        return folder
    }

    /// The authority in the folder. `export` makes it on first use, as `record` does.
    static func load(_ directory: String, createIfMissing: Bool) throws(AuthorityError) -> CertificateAuthority {
        try CertificateAuthority.load(
            directory: directory, createIfMissing: createIfMissing, hostName: FileSystem.hostName)
    }
}

/// `handoff ca export`: the certificate that a test device has to trust.
struct CAExportCommand {
    static let syntax = CommandSyntax(
        name: "ca export", operands: "", operandCount: 0...0,
        summary:
            "Write the certificate that test devices must trust to standard output; made on first use. Never a key.",
        options: [
            .value("format", "pem|der|android|mobileconfig", "the form of the certificate; default pem"),
            AuthorityArguments.directory,
        ],
        notes: """
            pem          command-line tools, Firefox, Flutter; der: Android's and Windows' own installers
            android      PEM for /system/etc/security/cacerts of a rooted device or emulator; ca show names the file
            mobileconfig a profile for iPhone and iPad; afterwards turn it on under Certificate Trust Settings
            """)

    private let handoff: Handoff
    private let arguments: Arguments

    init(handoff: Handoff, arguments: Arguments) {
        self.handoff = handoff
        self.arguments = arguments
    }

    func run() throws -> ExitStatus {
        let format = try arguments.choice("format", CertificateAuthority.ExportFormat.self) ?? .pem
        if format == .der, handoff.console.resultIsTerminal {
            throw UsageError(message: "der is not text; redirect it: handoff ca export --format der > handoff-ca.cer")
        }
        let directory = try AuthorityArguments.directory(arguments, handoff)
        do throws(AuthorityError) {
            let authority = try AuthorityArguments.load(directory, createIfMissing: true)
            handoff.console.binary(authority.export(format))
            return .conforming
        } catch {
            handoff.console.complain("\(error)")
            return .unreadable
        }
    }
}

/// `handoff ca show`: which authority it is.
struct CAShowCommand {
    static let syntax = CommandSyntax(
        name: "ca show", operands: "", operandCount: 0...0,
        summary: "Tell the name, the fingerprint and the dates of the certificate authority.",
        options: [AuthorityArguments.directory])

    private let handoff: Handoff
    private let arguments: Arguments

    init(handoff: Handoff, arguments: Arguments) {
        self.handoff = handoff
        self.arguments = arguments
    }

    func run() throws -> ExitStatus {
        let directory = try AuthorityArguments.directory(arguments, handoff)
        do throws(AuthorityError) {
            let authority = try AuthorityArguments.load(directory, createIfMissing: false)
            let certificate = authority.certificate
            handoff.console.result(
                """
                name           \(certificate.subject)
                SHA-256        \(certificate.fingerprint)
                valid          \(certificate.notBefore.rfc3339.prefix(10)) to \(certificate.notAfter.rfc3339.prefix(10))
                folder         \(directory)
                Android file   \(authority.fileName(.android))

                """)
            return .conforming
        } catch {
            let hint = error.kind == .missing ? "; handoff ca export or handoff record makes one" : ""
            handoff.console.complain("\(error)\(hint)")
            return .unreadable
        }
    }
}

/// `handoff ca reset`: forgets the authority.
struct CAResetCommand {
    static let syntax = CommandSyntax(
        name: "ca reset", operands: "", operandCount: 0...0,
        summary: "Remove the certificate authority and its key; the next recording makes a new one.",
        options: [
            .flag("yes", "do it: every device has to be set up again, and old trust on them becomes void"),
            AuthorityArguments.directory,
        ])

    private let handoff: Handoff
    private let arguments: Arguments

    init(handoff: Handoff, arguments: Arguments) {
        self.handoff = handoff
        self.arguments = arguments
    }

    func run() throws -> ExitStatus {
        let directory = try AuthorityArguments.directory(arguments, handoff)
        guard arguments.has("yes") else {
            throw UsageError(
                message:
                    "this removes the certificate authority in \(directory), and every device that trusts it has to be "
                    + "set up again; give --yes if that is meant")
        }
        do throws(AuthorityError) {
            let existed = try CertificateAuthority.reset(directory: directory)
            handoff.console.talk(
                existed
                    ? "The certificate authority in \(directory) is gone. Remove its certificate from your devices.\n"
                    : "There was no certificate authority in \(directory).\n")
            return .conforming
        } catch {
            handoff.console.complain("\(error)")
            return .unreadable
        }
    }
}
