internal import EventLoop
internal import SessionTrace

/// Clear text in a tunnel, or in transparent mode: `GET /` on port 80, mostly.
extension ProxiedConnection {
    /// Relays a client that began with something else than TLS. `firstBytes` are its first, and pending in the recording.
    ///
    /// As raw as `relayRaw`, unless there is a fault for the host, or the connection may be of a journey that is withheld.
    func relayClear(
        device: any DeviceStream, firstBytes: [UInt8], destination: Destination, upstream: TCPStream
    ) async {
        let isRequest = Self.looksLikeRequest(firstBytes)
        var journey: JourneyStage?
        // Without a name only a request can tell where it goes.
        if isRequest || destination.name != nil { journey = clearTextJourney(on: device, to: destination.name) }
        let faults = isRequest ? clearTextFaults(firstBytes, destination, device) : nil
        guard journey != nil || faults != nil else {
            return await relayRaw(device: device, firstBytes: firstBytes, upstream: upstream)
        }
        device.socket.keepsPending = false
        let tunnel = ClearTunnel(device: device, upstream: upstream, journey: journey, faults: faults)
        await telling(of: [journey].compactMap(\.self), to: device.recorded) {
            await self.race(
                {
                    await self.together(
                        {
                            await self.carryUp(tunnel, firstBytes)
                            tunnel.isUpDone = true
                        },
                        { await self.carryDown(tunnel) })
                },
                { await self.watchDevice(of: tunnel) },
                { try? await tunnel.isOverSignal.wait(on: self.loop) })
            journey?.ended(.finished, at: WallClock.now())
        }
        upstream.close()
        if tunnel.isOver, device.socket.stream.isOpen { await closeLingering(device) }
    }

    /// Whether bytes begin as a request of HTTP does: a method and a space (RFC 9112 §3; no method in use has small letters).
    static func looksLikeRequest(_ bytes: [UInt8]) -> Bool {
        let method = bytes.prefix { (0x41...0x5A).contains($0) || $0 == 0x2D }
        guard method.count <= 32, !method.isEmpty else { return false }
        return method.count == bytes.count || bytes[method.count] == 0x20
    }

    private func clearTextFaults(
        _ bytes: [UInt8], _ destination: Destination, _ device: any DeviceStream
    ) -> FaultInjection? {
        // A redirected device gives the name in its request alone.
        var host = destination.name
        if host == nil, case .local(let field?)? = ProxyRequest(bytes)?.aim {
            host = HostName.parse(authority: field)?.host
        }
        guard let host = host ?? HostName(destination.host),
            let stage = proxy.faults.stage(host: host, port: destination.port)
        else { return nil }
        let (recorded, interceptor, client) = (device.recorded, proxy.interceptor, client)
        return FaultInjection(stage) { interceptor.report($0, client: client, recorded: recorded) }
    }

    private func carryUp(_ tunnel: ClearTunnel, _ firstBytes: [UInt8]) async {
        let buffer = HeapBuffer(count: configuration.limits.relayBufferBytes)
        let first = HeapBuffer(firstBytes)
        do throws(SocketError) {
            try await tunnel.pass(
                UnsafeRawBufferPointer(first.bytes), from: .client, at: activity.last, on: loop)
        } catch {
            return
        }
        while !tunnel.isOver {
            let piece: (count: Int, arrival: Instant)
            do throws(SocketError) {
                piece = try await tunnel.device.read(into: buffer.bytes)
            } catch {
                guard !error.isCancelled else { return }
                await upTo(Self.lastWords) { (tunnel.upstream.acknowledgement()?.bytesOutstanding ?? 0) == 0 }
                tunnel.upstream.reset()
                return
            }
            do throws(SocketError) {
                guard piece.count > 0 else {
                    try await tunnel.finish(.client, at: piece.arrival, on: loop)
                    return
                }
                try await tunnel.pass(buffer.prefix(piece.count), from: .client, at: piece.arrival, on: loop)
            } catch {
                // The origin that takes no more may still have something to say; the other direction finds its end.
                return
            }
        }
    }

    private func carryDown(_ tunnel: ClearTunnel) async {
        let buffer = HeapBuffer(count: configuration.limits.relayBufferBytes)
        while !tunnel.isOver {
            let piece: (count: Int, arrival: Instant)
            do throws(SocketError) {
                piece = try await tunnel.upstream.read(into: buffer.bytes)
            } catch {
                guard !error.isCancelled, !error.isClosed else { return }
                await settle(tunnel.device.socket)
                tunnel.device.reset()
                return
            }
            activity.note(WallClock.now())
            do throws(SocketError) {
                guard piece.count > 0 else {
                    try await tunnel.finish(.server, at: piece.arrival, on: loop)
                    return
                }
                try await tunnel.pass(buffer.prefix(piece.count), from: .server, at: piece.arrival, on: loop)
            } catch {
                // The device is gone. What it said before is passed on first, by the other direction.
                await upTo(Self.lastWords) { tunnel.isUpDone }
                if !error.isCancelled { tunnel.upstream.reset() }
                return
            }
        }
    }

    /// Ends when the device has broken off and what it said before has been passed on, or can't be in time.
    private func watchDevice(of tunnel: ClearTunnel) async {
        guard (try? await tunnel.device.socket.stream.waitFailed()) != nil else {
            // Closed on this side, or cancelled: the directions end by themselves.
            try? await LoopTimer.sleep(Self.lastWords)
            return
        }
        await upTo(Self.lastWords) { tunnel.isUpDone }
        tunnel.upstream.reset()
    }
}
