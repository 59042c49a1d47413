internal import Crypto
internal import EventLoop
internal import SessionTrace
internal import WireFormats

/// TLS that the proxy answers itself.
extension Interceptor {
    /// What came of answering a device's TLS.
    enum Served {
        /// The inside.
        case stream(SecureDeviceStream)
        /// Not TLS that can be answered: these bytes have been read.
        case unreadable([UInt8])
        /// The device went away, or refused our leaf: both are in the recording.
        case ended
    }

    /// Answers TLS on `device` with a leaf of ours.
    ///
    /// The certificate is for the name of the device's SNI and for `name`: the host that it asked the proxy for, or the
    /// listener's own address. ALPN: `http/1.1` when the device offers it, else none.
    nonisolated(nonsending) func serveSecure(
        _ device: any DeviceStream, first: [UInt8], name: HostName
    ) async -> Served {
        let gathered: ClientHelloGatherer
        do throws(SocketError) {
            gathered = try await ClientHelloGatherer.gather(
                from: device, first: first, within: timeouts.clientHello)
        } catch {
            return .ended
        }
        guard case .hello(let hello) = gathered.progress else { return .unreadable(gathered.bytes) }
        let names = [hello.serverName, name].compactMap(\.self)
        let isHTTP1Offered = hello.applicationProtocols.contains("http/1.1")
        let engine: TLSEngine
        do throws(TLSFailure) {
            engine = try deviceEngine(names: names, mirroring: nil, alpn: isHTTP1Offered ? Array("http/1.1".utf8) : nil)
        } catch {
            device.close()
            return .ended
        }
        let secrets = SecretsInWaiting(device) { self.logDeviceSecrets($0) }
        let end = TLSEnd(engine, on: .device(device)) { secrets.add($0) }
        let client = device.socket.stream.peer
        let ja4 = JA4.fingerprint(of: hello, over: .tcp)
        let asked = names.first ?? name
        do throws(TLSEndError) {
            let deadline = WallClock.now().advanced(byNanoseconds: Interception.deviceHandshakeNanoseconds)
            try await end.handshake(first: gathered.bytes, until: deadline) { true }
        } catch {
            let reception = Interception.reception(error, engine)
            if case .refused(let byAlert, let alert) = reception.outcome {
                leafRefused(
                    by: client, name: asked, ja4: ja4, byAlert: byAlert, alert: alert, recorded: device.recorded)
            }
            device.close()
            return .ended
        }
        deviceTrusts(client.address, ja4: ja4, name: asked)
        return .stream(SecureDeviceStream(end, over: device, secrets: secrets))
    }
}
