internal import Crypto
public import EventLoop
internal import SessionTrace
internal import Synchronization

/// The partner's backend, Chia's pages and a telemetry vendor, on loopback behind one certificate authority.
public final class MockHosts: Sendable {
    /// The partner's backend.
    public static let partner = "api.partner.example"
    /// The partner's images.
    public static let images = "img.partner.example"
    /// Chia's pages.
    public static let chia = "chia.health"
    /// A crash reporter, by its real name; nothing here leaves this host.
    public static let crashReports = "o4507.ingest.sentry.io"
    /// A product analytics collector, by its real name.
    public static let analytics = "api2.amplitude.com"
    /// The treatment that is handed over.
    public static let catalogID = "trt_4c1d9e7a20"
    /// The address that is opened without sharing.
    public static let neutralURL = "https://chia.health/start"

    /// The policy that says which host is whose.
    public static let policy = """
        version: 1
        hosts:
          chia: [\(chia)]
          partner: [\(partner)]
          partner-assets: [\(images)]

        """

    private static let names = [partner, images, chia, crashReports, analytics]

    private let server: LabServer
    private let authority: CertificateAuthority

    /// Starts the servers on `loop`.
    public init(on loop: EventLoop) async throws {
        let authority = try CertificateAuthority.inMemory(hostName: "lab")
        let sessions = SessionBook()
        let identity = try authority.leaf(for: Self.names.compactMap { SubjectName($0) })
        self.authority = authority
        server = try LabServer(identity: identity, on: loop) { request, host in
            .response(Self.answer(request, host, sessions))
        }
        await server.start()
    }

    /// The certificate (PEM) by which a client knows the servers.
    public var authorityCertificate: String { authority.certificate.pem }

    /// Where each host really is: `HOST:443:ADDRESS:PORT`, as `--resolve` takes it.
    public var resolveOverrides: [String] {
        Self.names.map { "\($0):443:\(server.address.address):\(server.address.port)" }
    }

    /// Stops the servers.
    public func stop() async {
        await server.stop()
    }

    // MARK: Answers

    /// The session answers, by idempotency key.
    private final class SessionBook: Sendable {
        private let answers = Mutex<[String: String]>([:])

        func answer(key: String) -> String {
            answers.withLock { answers in
                if let known = answers[key] { return known }
                let token = "phs_" + LabText.token(length: 43)
                let answer = """
                    {"url":"https://\(MockHosts.chia)/h/\(token)","expiresIn":900}
                    """
                answers[key] = answer
                return answer
            }
        }
    }

    private static func answer(_ request: LabRequest, _ host: String, _ sessions: SessionBook) -> LabResponse {
        let path = request.target.split(separator: "?").first.map(String.init) ?? ""
        switch host {
        case partner: return partner(request, path, sessions)
        case images:
            return LabResponse(200, fields: [("Content-Type", "image/png")], body: pixel)
        case chia:
            return LabResponse(
                200, fields: [("Content-Type", "text/html; charset=utf-8"), ("Cache-Control", "no-store")],
                body: Array("<!doctype html><title>Chia</title><h1>Welcome to Chia</h1>".utf8))
        default: return .json(200, "{}")
        }
    }

    private static func partner(_ request: LabRequest, _ path: String, _ sessions: SessionBook) -> LabResponse {
        switch (request.method, path) {
        case ("GET", "/home"):
            return .json(200, #"{"items":[{"catalogId":"\#(catalogID)","title":"Sleep care programme"}]}"#)
        case ("GET", "/catalog/\(catalogID)/handoff"):
            return .json(200, projection)
        case ("POST", "/handoff-session"):
            guard let key = request.field("Idempotency-Key") else { return .json(400, #"{"error":"no key"}"#) }
            return .json(201, sessions.answer(key: key))
        default:
            return .json(404, #"{"error":"not found"}"#)
        }
    }

    /// An image of one pixel (PNG).
    static let pixel: [UInt8] = [
        0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0x00, 0x00, 0x00, 0x0D, 0x49, 0x48, 0x44, 0x52, 0x00, 0x00,
        0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x02, 0x00, 0x00, 0x00, 0x90, 0x77, 0x53, 0xDE, 0x00, 0x00, 0x00,
        0x0C, 0x49, 0x44, 0x41, 0x54, 0x78, 0x9C, 0x63, 0x88, 0xEA, 0xAF, 0x06, 0x00, 0x02, 0xAB, 0x01, 0x65, 0x72,
        0xE7, 0xC8, 0x1D, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82,
    ]

    private static let projection = """
        {"catalogId":"\(catalogID)","title":"Sleep care programme","image":"https://\(images)/i/7f3a91.png",\
        "handoff":{"mode":"share_or_neutral","heading":"Continue with Chia",\
        "body":"Chia is a separate company. You can continue with or without sharing your selection.",\
        "recipient":{"legal_name":"Chia Health Inc.","privacy_contact":"privacy@chia.health"},\
        "dataShared":["Selected programme"],"purpose":"To start with the programme you selected",\
        "compensationDisclosure":"We may be paid when you continue.",\
        "policyUrls":{"privacy":"https://www.chia.health/privacy"},\
        "primary":{"actionLabel":"Share selection and continue","sessionCreationPath":"/v2/handoff-sessions",\
        "disclosureVersion":"2026-11-01"},\
        "secondary":{"actionLabel":"Continue without sharing","url":"\(neutralURL)"}}}
        """
}
