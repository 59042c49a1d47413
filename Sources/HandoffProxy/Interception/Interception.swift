internal import Crypto
internal import EventLoop
internal import SessionTrace
internal import WireFormats

/// One connection whose device began with a TLS handshake, from the first byte to the point where plaintext can be relayed
/// (DESIGN "Order"). Confined to the connection that owns it.
///
/// ```
/// gathering ──ClientHello──▶ origin's handshake ──▶ device's handshake ──▶ relay
///    │ unreadable               │ failed: alert         │ leaf refused
///    │ or to be let through     ▼                       ▼
///    └──▶ raw                 ended                   ended
/// ```
final class Interception {
    /// For the device's handshake, from our first flight on. A person may be asked about the certificate meanwhile.
    static let deviceHandshakeNanoseconds: Int64 = 60 * 1_000_000_000

    /// What is to be done with the connection.
    enum Outcome {
        /// Relay it as it is; these bytes of the device have been read and come first.
        case raw([UInt8])
        /// Relay the plaintext.
        case relay(DecryptedRelay)
        /// Nothing more: both sides have been told, and are to be closed.
        case ended
    }

    let interceptor: Interceptor
    let device: any DeviceStream
    let origin: TCPStream
    let destination: Destination
    /// The hello, once it is there.
    private(set) var hello: ClientHelloMessage?
    /// The client's JA4; empty before its hello.
    private(set) var ja4 = ""
    /// What the connection is called: SNI, else the name that was asked for, else the address.
    private(set) var name: HostName?
    /// The watch over the connection's journey; nil when it is recorded in any case.
    private(set) var journey: JourneyStage?
    private var hasReportedReception = false
    /// Whether the connection speaks something in which no fault can be injected.
    private var isBeyondFaults = false

    init(interceptor: Interceptor, device: any DeviceStream, origin: TCPStream, destination: Destination) {
        self.interceptor = interceptor
        self.device = device
        self.origin = origin
        self.destination = destination
    }

    private var client: Endpoint { device.socket.stream.peer }

    /// Goes up to the point where plaintext, or the raw bytes, can be relayed. `first`: bytes of the device that have been
    /// read.
    nonisolated(nonsending) func prepare(first: [UInt8]) async -> Outcome {
        let gathered: ClientHelloGatherer
        do throws(SocketError) {
            gathered = try await ClientHelloGatherer.gather(
                from: device, first: first, within: interceptor.timeouts.clientHello)
        } catch {
            if error.isReset { origin.reset() } else { origin.close() }
            return .ended
        }
        switch gathered.progress {
        case .needsInput: return unreadable(.unfinished, gathered.bytes)
        case .unreadable(let reason): return unreadable(reason, gathered.bytes)
        case .hello(let hello): return await proceed(hello, gathered.bytes)
        }
    }

    private nonisolated(nonsending) func proceed(_ hello: ClientHelloMessage, _ bytes: [UInt8]) async -> Outcome {
        let offered = ApplicationProtocols(list: hello.applicationProtocolList)
        guard let name = hello.serverName ?? HostName(destination.host), offered.isWellFormed else {
            return unreadable(.malformed, bytes)
        }
        self.hello = hello
        self.name = name
        ja4 = JA4.fingerprint(of: hello, over: .tcp)
        if let reason = reasonToPass(name) {
            passesThrough(name, reason)
            return .raw(bytes)
        }
        let protocols = restricted(offered, name)
        guard let originEnd = await originHandshake(name, hello, protocols) else { return .ended }
        guard let (deviceEnd, reception) = await deviceHandshake(name, bytes, originEnd) else { return .ended }
        return .relay(
            DecryptedRelay(
                device: deviceEnd, origin: originEnd, reception: reception, journey: journey, faults: faults(name)))
    }

    // MARK: What is not read

    private func unreadable(_ reason: ClientHelloGatherer.Unreadable, _ bytes: [UInt8]) -> Outcome {
        let now = WallClock.now()
        if let limit = reason.limit {
            device.recorded.event(.limit, at: now, ["what": "client-hello", "limit": limit])
        }
        device.recorded.event(
            .passthrough, at: now,
            ["name": destination.host, "reason": "unreadable-hello", "detail": reason.rawValue])
        return .raw(bytes)
    }

    private func reasonToPass(_ name: HostName) -> InterceptionPolicy.Reason? {
        let until = interceptor.refusals.expiry(of: refusalKey(name), at: WallClock.now())
        return interceptor.policy.reasonToPass(name, refusedUntil: until)
    }

    private func refusalKey(_ name: HostName) -> PassthroughTable.Key {
        PassthroughTable.Key(client: client.address, name: name, ja4: ja4)
    }

    private func passesThrough(_ name: HostName, _ reason: InterceptionPolicy.Reason) {
        let now = WallClock.now()
        var attributes = ["name": name.text, "reason": reason.word, "ja4": ja4]
        var words = "\(name) is relayed unread"
        switch reason {
        case .asked: words += ", as --passthrough says."
        case .refused(let until):
            attributes["until"] = until.rfc3339
            words += ": this client refused our certificate. It is tried again after \(until.rfc3339)."
        case .notInInterceptOnly: words += ", as --intercept-only does not name it."
        case .defaultList: words += ": a service of the phone's own."
        }
        device.recorded.event(.passthrough, at: now, attributes)
        guard reason != .defaultList else { return }
        interceptor.live.post(LiveEvent(.passthrough, at: now, client: client, host: name.text, text: words))
    }

    private func restricted(_ offered: ApplicationProtocols, _ name: HostName) -> ApplicationProtocols {
        guard interceptor.faults.restrictsToHTTP1(host: name, port: destination.port) else { return offered }
        if let restricted = offered.restrictedToHTTP1 { return restricted }
        let missed = interceptor.faults.missed(
            host: name, port: destination.port, reason: "the client offers no HTTP/1.1 in its TLS handshake")
        for record in missed { interceptor.report(record, client: client, recorded: device.recorded) }
        isBeyondFaults = true
        return offered
    }

    // MARK: The origin

    private nonisolated(nonsending) func originHandshake(
        _ name: HostName, _ hello: ClientHelloMessage, _ protocols: ApplicationProtocols
    ) async -> TLSEnd? {
        let timeout = interceptor.timeouts.upstreamHandshake
        do throws(TLSEndError) {
            let engine: TLSEngine
            do throws(TLSFailure) {
                engine = try interceptor.originEngine(
                    name: name, sni: hello.serverName, alpn: protocols, place: origin.peer)
            } catch { throw .tls(error) }
            let interceptor = interceptor
            let end = TLSEnd(engine, on: .origin(origin)) { interceptor.logUpstreamSecrets($0) }
            try await end.handshake(until: WallClock.now().advanced(by: timeout)) {
                self.device.socket.stream.endNow == nil
            }
            noteOrigin(end, name)
            return end
        } catch {
            await originFailed(error, name, hello)
            return nil
        }
    }

    private func noteOrigin(_ end: TLSEnd, _ name: HostName) {
        guard let negotiated = end.engine.negotiated else { return }
        var attributes = ["name": name.text, "version": negotiated.version.description]
        attributes["alpn"] = negotiated.alpn
        if let certificate = end.engine.peerCertificate {
            attributes["issuer"] = certificate.issuer
            attributes["fingerprint"] = certificate.fingerprint
        }
        if case .none = interceptor.verification(of: name) { attributes["verified"] = "no" }
        if end.engine.hasResumed { attributes["resumed"] = "yes" }
        device.recorded.event(.upstreamTLS, at: WallClock.now(), attributes)
    }

    /// The origin refused us after our handshake with it, without a byte: in TLS 1.3 its word on a client certificate.
    func originRefused(_ error: TLSEndError) {
        if let name { tellOriginFailure(error, name) }
    }

    private nonisolated(nonsending) func originFailed(
        _ error: TLSEndError, _ name: HostName, _ hello: ClientHelloMessage
    ) async {
        tellOriginFailure(error, name, sentAlert: UpstreamFailureWords.alert(for: error))
        origin.close()
        guard error != .unwanted else { return device.close() }
        let version = min(max(hello.legacyVersion, 0x0301), 0x0303)
        try? await device.write(TLSAlert.clearRecord(UpstreamFailureWords.alert(for: error), version: version))
        device.finishWriting()
    }

    private func tellOriginFailure(_ error: TLSEndError, _ name: HostName, sentAlert: UInt8? = nil) {
        let now = WallClock.now()
        var attributes = ["name": name.text, "reason": error.reason]
        attributes["sent-alert"] = sentAlert.map(TLSAlert.name)
        if case .tls(let failure) = error, failure.kind == .peerAlert, let received = failure.alert {
            attributes["alert"] = TLSAlert.name(received)
        }
        let fix = UpstreamFailureWords.fix(
            for: error, name: name.text, hasClientIdentity: interceptor.clientIdentity(for: name) != nil)
        attributes["fix"] = fix
        device.recorded.event(.upstreamTLSFailed, at: now, attributes)
        guard error != .unwanted else { return }
        let words = "TLS with the server \(name) failed: \(error.reason)."
        interceptor.live.post(
            LiveEvent(
                .upstreamTLSFailed, at: now, client: client, host: name.text,
                text: fix.map { "\(words) \($0)" } ?? words, isAlarm: interceptor.policy.matters(name)))
    }

    // MARK: The device

    private nonisolated(nonsending) func deviceHandshake(
        _ name: HostName, _ bytes: [UInt8], _ originEnd: TLSEnd
    ) async -> (TLSEnd, LeafReception)? {
        beginJourney(name, originEnd)
        let isVerified = interceptor.verification(of: name) != .none
        var reception = LeafReception()
        let engine: TLSEngine
        do throws(TLSFailure) {
            engine = try interceptor.deviceEngine(
                names: [name], mirroring: isVerified ? originEnd.engine.peerCertificate : nil,
                alpn: originEnd.engine.negotiated?.alpnBytes)
        } catch {
            deviceFailed(name, error.reason)
            // What was held back until the journey is known is written: there will be no journey.
            journey?.ended(.finished, at: WallClock.now())
            return nil
        }
        let interceptor = interceptor
        let device = device
        let journey = journey
        let end = TLSEnd(engine, on: .device(device)) { lines in
            device.record(secrets: lines)
            if journey?.holdsSecrets(lines) != true { interceptor.logDeviceSecrets(lines) }
        }
        do throws(TLSEndError) {
            let deadline = WallClock.now().advanced(byNanoseconds: Self.deviceHandshakeNanoseconds)
            try await end.handshake(first: bytes, until: deadline) { !ByteTransport.origin(self.origin).hasFailed }
            reception.observe(.certificateSent)
            reception.observe(.handshakeFinished)
            device.socket.handshakeEnded()
            interceptor.deviceTrusts(client.address, ja4: ja4, name: name)
            return (end, reception)
        } catch {
            reception = Self.reception(error, engine)
            report(reception)
            if case .open = reception.outcome { deviceFailed(name, error.reason) }
            journey?.ended(.finished, at: WallClock.now())
            if case .socket(let failure) = error, failure.isReset { origin.reset() } else { origin.close() }
            device.close()
            return nil
        }
    }

    /// How the device took our leaf in a handshake that failed.
    static func reception(_ error: TLSEndError, _ engine: TLSEngine) -> LeafReception {
        var reception = LeafReception()
        if engine.hasSentCertificate { reception.observe(.certificateSent) }
        if let alert = engine.peerAlert { reception.observe(.alert(alert)) }
        if isClose(error, engine) { reception.observe(.closed) }
        return reception
    }

    /// Whether it was the device that ended the handshake: by FIN or RST, or by an alert of its own.
    private static func isClose(_ error: TLSEndError, _ engine: TLSEngine) -> Bool {
        switch error {
        case .socket(let failure): failure.isReset
        case .tls(let failure):
            failure.kind == .truncated || failure.kind == .peerAlert
                || engine.sentAlert == nil && failure.kind != .limit
        case .unwanted: false
        }
    }

    private func deviceFailed(_ name: HostName, _ reason: String) {
        device.recorded.event(
            .other("device-tls-failed"), at: WallClock.now(), ["name": name.text, "reason": reason, "ja4": ja4])
    }

    // MARK: How the device took our leaf

    /// Reports what became of our leaf, once, when that is known: into the recording, to the terminal and into the tables
    /// that decide about the next connection.
    func report(_ reception: LeafReception, isSuspected: Bool = false) {
        guard let name, !hasReportedReception else { return }
        switch reception.outcome {
        case .refused(let byAlert, let alert):
            hasReportedReception = true
            interceptor.leafRefused(
                by: client, name: name, ja4: ja4, byAlert: byAlert, alert: alert, recorded: device.recorded)
        case .suspected where isSuspected:
            hasReportedReception = true
            interceptor.leafSuspected(by: client, name: name, ja4: ja4, recorded: device.recorded)
        case .suspected, .open, .accepted:
            break
        }
    }

    // MARK: What looks at the plaintext

    private func beginJourney(_ name: HostName, _ originEnd: TLSEnd) {
        guard let guide = interceptor.guide else { return }
        let connection = JourneyConnection(
            client: client, requestedHost: destination.name, serverName: hello?.serverName,
            applicationProtocol: originEnd.engine.negotiated?.alpn, ja4: ja4)
        guard guide.mayWithhold(connection) else { return }
        device.socket.holdRecording()
        let interceptor = interceptor
        journey = JourneyStage(guide: guide, connection: connection, socket: device.socket) { lines in
            interceptor.logDeviceSecrets(lines)
        }
    }

    private func faults(_ name: HostName) -> FaultInjection? {
        guard !isBeyondFaults, let stage = interceptor.faults.stage(host: name, port: destination.port) else {
            return nil
        }
        let (recorded, interceptor, client) = (device.recorded, interceptor, client)
        return FaultInjection(stage) { record in
            interceptor.report(record, client: client, recorded: recorded)
        }
    }
}

extension ClientHelloGatherer.Unreadable {
    /// The limit that was crossed, for the `limit` event.
    fileprivate var limit: String? {
        switch self {
        case .tooLong: "64 KiB"
        case .tooSlow: "10 s"
        case .notTLS, .malformed, .tooOld, .unfinished: nil
        }
    }
}
