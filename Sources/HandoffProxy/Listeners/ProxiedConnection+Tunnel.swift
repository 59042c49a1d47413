internal import EventLoop
internal import SessionTrace

/// The way to an origin: dial, answer, and then whoever speaks first.
extension ProxiedConnection {
    /// Serves CONNECT and SOCKS requests. `firstBytes`: what the client sent behind its request without waiting.
    func serveTunnel(
        _ device: any DeviceStream, to destination: Destination, dialect: Dialect, firstBytes: [UInt8]
    ) async {
        device.socket.keepsPending = false
        if destination.isLocal {
            guard (try? await answerSuccess(device, dialect, bound: nil)) != nil else { return }
            await serveOurselves(device, destination: destination, firstBytes: firstBytes)
            return
        }
        let upstream: TCPStream
        do throws(DialFailure) {
            upstream = try await dial(destination)
        } catch {
            await answerFailure(device, dialect, error)
            return
        }
        if (try? await answerSuccess(device, dialect, bound: upstream.local)) != nil {
            await converse(device, firstBytes: firstBytes, destination: destination, upstream: upstream)
        }
        upstream.close()
    }

    private func answerSuccess(_ device: any DeviceStream, _ dialect: Dialect, bound: Endpoint?)
        async throws(SocketError)
    {
        switch dialect {
        case .http: try await device.write(PlainAnswer.established)
        case .socks: try await device.write(SOCKSServer.reply(0, bound: bound))
        }
    }

    private func answerFailure(_ device: any DeviceStream, _ dialect: Dialect, _ failure: DialFailure) async {
        guard failure.kind != .cancelled else { return }
        switch dialect {
        case .http: await answer(device, status: failure.status, failure.sentence)
        case .socks:
            device.record(secrets: [])
            try? await device.write(SOCKSServer.reply(failure.socksReply))
            await closeLingering(device)
        }
    }

    /// Serves a client that the kernel sent here. There is nobody to answer to: a destination that can't be reached is a
    /// connection that breaks.
    func serveTransparent(_ socket: RecordedSocket, to original: Endpoint) async {
        let destination = Destination(original, kind: .transparent)
        var firstBytes: [UInt8] = []
        if mayNameUs(original) {
            switch await greeting(of: socket, for: original) {
            case .ours(let destination, let bytes):
                await serveOurselves(socket, destination: destination, firstBytes: bytes)
                return
            case .foreign(let bytes): firstBytes = bytes
            case .ended: return
            }
        }
        let upstream: TCPStream
        do throws(DialFailure) {
            upstream = try await dial(destination)
        } catch {
            socket.record(secrets: [])
            socket.reset()
            return
        }
        await converse(socket, firstBytes: firstBytes, destination: destination, upstream: upstream)
        upstream.close()
    }

    /// Relays: TLS of the client is read if it may be, everything else goes through as it is.
    private func converse(
        _ device: any DeviceStream, firstBytes: [UInt8], destination: Destination, upstream: TCPStream
    ) async {
        var firstBytes = firstBytes
        if firstBytes.isEmpty {
            guard await firstSpeaker(device, upstream) == .client else {
                await relayRaw(device: device, firstBytes: [], upstream: upstream)
                return
            }
            let received = Received()
            let buffer = HeapBuffer(count: 16 << 10)
            defer { withExtendedLifetime(buffer) {} }
            await received.read(from: device, into: buffer)
            firstBytes = received.bytes
        }
        if firstBytes.first == 0x16 {
            await intercept(device: device, firstBytes: firstBytes, destination: destination, upstream: upstream)
        } else {
            await relayClear(device: device, firstBytes: firstBytes, destination: destination, upstream: upstream)
        }
    }

    /// How long a client whose origin has closed at once may take to say what it wanted: a ClientHello makes that a failure
    /// of TLS, which is told as one.
    private static let lateClient = Duration.seconds(1)

    /// Waits for whichever side speaks first; the client, when both have. An origin that ends without a word has not spoken.
    private func firstSpeaker(_ device: any DeviceStream, _ upstream: TCPStream) async -> Side {
        let isClient = Box(false)
        await race(
            {
                if (try? await device.waitReadable()) != nil { isClient.value = true }
            },
            {
                guard (try? await upstream.waitReadable()) != nil, !upstream.hasBytesNow else { return }
                try? await LoopTimer.sleep(Self.lateClient)
            })
        return isClient.value ? .client : .server
    }

    /// Serves the names under which the proxy itself answers.
    func serveOurselves(_ device: any DeviceStream, destination: Destination, firstBytes: [UInt8]) async {
        let received = Received()
        received.bytes = firstBytes
        if firstBytes.isEmpty { await received.read(from: device, into: HeapBuffer(count: 16 << 10)) }
        guard let first = received.bytes.first else { return }
        if first == 0x16 {
            await interceptLocal(device: device, firstBytes: received.bytes, destination: destination)
        } else {
            device.record(secrets: [])
            await serveLocal(
                device: device, firstBytes: received.bytes, isSecure: false, host: destination.name?.text)
        }
    }
}
