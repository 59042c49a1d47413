internal import EventLoop
internal import SessionTrace

/// The way to an origin's socket.
extension ProxiedConnection {
    /// What a race for an origin came to; confined to the actor.
    private final class Attempt {
        var result: Result<TCPStream, DialFailure>?
    }

    /// Connects to `destination`, or says why not. Either way the attempt is an event in the trace, and a failure one at the
    /// terminal. Given up when the device breaks its connection off.
    ///
    /// Names are resolved here, addresses are dialled as they are; what the name came to is checked, not the name.
    func dial(_ destination: Destination) async throws(DialFailure) -> TCPStream {
        let upstream: TCPStream
        do throws(DialFailure) {
            upstream = try await attempt(destination, Attempt())
        } catch {
            event(
                .dialFailed,
                [
                    "host": destination.host, "port": "\(destination.port)", "reason": error.kind.rawValue,
                    "detail": error.sentence,
                ])
            if error.kind != .cancelled {
                post(
                    error.kind == .destinationRefused ? .destinationRefused : .dialFailed, host: destination.host,
                    error.sentence)
            }
            throw error
        }
        // A passive capture may see this leg too: it is no traffic around the proxy.
        proxy.recording.isOurs(upstream.local, upstream.peer)
        var attributes = [
            "host": destination.host, "address": upstream.peer.address.description, "port": "\(destination.port)",
            "local": upstream.local.description,
        ]
        if let proxy = configuration.upstreamProxy { attributes["via"] = "\(proxy.host):\(proxy.port)" }
        event(.dialed, attributes)
        return upstream
    }

    private func attempt(_ destination: Destination, _ attempt: Attempt) async throws(DialFailure) -> TCPStream {
        let device = socket?.stream
        await race(
            { attempt.result = await self.outcome(of: destination) },
            {
                // Without a socket, or when its wait can't go on, the race is for the other to end.
                guard let device, (try? await device.waitFailed()) != nil else {
                    try? await LoopTimer.sleep(.seconds(3_600))
                    return
                }
            })
        switch attempt.result {
        case .success(let upstream): return upstream
        case .failure(let failure): throw failure
        case nil:
            throw DialFailure(kind: .cancelled, sentence: "The connection to \(destination.authority) was given up.")
        }
    }

    private func outcome(of destination: Destination) async -> Result<TCPStream, DialFailure> {
        do throws(DialFailure) {
            return .success(try await connect(destination))
        } catch {
            return .failure(error)
        }
    }

    private func connect(_ destination: Destination) async throws(DialFailure) -> TCPStream {
        let override = HostName(destination.host).flatMap { name in
            configuration.resolveOverrides.lazy.compactMap { $0.target(for: name, port: destination.port) }.first
        }
        if let proxy = configuration.upstreamProxy {
            let goal: Destination
            if let override {
                goal = Destination(override, kind: destination.kind)
            } else {
                goal = destination
                // What a name comes to is the upstream proxy's affair; an address can be judged here.
                if let address = destination.address {
                    _ = try checked([Endpoint(address: address, port: destination.port)], destination)
                }
            }
            return try await connect(to: goal, through: proxy)
        }
        let goals: [Endpoint]
        if let override {
            // Whoever runs the proxy has said so.
            goals = [override]
        } else if let address = destination.address {
            goals = try checked([Endpoint(address: address, port: destination.port)], destination)
        } else {
            goals = try checked(try await addresses(of: destination.host, port: destination.port), destination)
        }
        return try await connect(toAny: goals, place: destination.authority)
    }

    private func connect(toAny goals: [Endpoint], place: String) async throws(DialFailure) -> TCPStream {
        do throws(SocketError) {
            return try await TCPStream.connect(toAny: goals, timeout: configuration.timeouts.dial, on: loop)
        } catch {
            throw DialFailure(error, to: place)
        }
    }

    /// Those of `goals` that this client may reach.
    private func checked(_ goals: [Endpoint], _ destination: Destination) throws(DialFailure) -> [Endpoint] {
        let check = proxy.check
        var allowed: [Endpoint] = []
        var refused: (goal: Endpoint, reason: String)?
        for goal in goals {
            if let reason = check.refusal(of: goal, for: client.address) {
                refused = refused ?? (goal, reason)
            } else {
                allowed.append(goal)
            }
        }
        if let refused, allowed.isEmpty {
            throw DialFailure(
                kind: .destinationRefused,
                sentence: destination.address == nil
                    ? "\(destination.host) is refused: it resolves to \(refused.goal.address), which is \(refused.reason)."
                    : "\(refused.goal) is refused: it is \(refused.reason).")
        }
        return allowed
    }

    /// What a name resolves to; never empty.
    private func addresses(of name: String, port: UInt16) async throws(DialFailure) -> [Endpoint] {
        let found: [Endpoint]
        do {
            found = try await withTimeout(configuration.timeouts.resolve) {
                try await Resolver.addresses(of: name, port: port)
            }
        } catch let error as ResolverError {
            if case .cancelled = error { throw DialFailure(kind: .cancelled, sentence: "The look-up was given up.") }
            throw DialFailure(kind: .unresolvable, sentence: "\(name) can't be resolved: \(error).")
        } catch {
            throw DialFailure(kind: .timeout, sentence: "\(name) was not resolved in time.")
        }
        guard !found.isEmpty else {
            throw DialFailure(kind: .unresolvable, sentence: "\(name) has no address.")
        }
        return found
    }

    // MARK: - Through another proxy

    private func connect(to goal: Destination, through proxy: UpstreamProxy) async throws(DialFailure) -> TCPStream {
        let place = "the upstream proxy \(proxy.host):\(proxy.port)"
        let endpoints: [Endpoint]
        if let address = proxy.host.address {
            endpoints = [Endpoint(address: address, port: proxy.port)]
        } else {
            endpoints = try await addresses(of: proxy.host.text, port: proxy.port)
        }
        let stream = try await connect(toAny: endpoints, place: place)
        var client = UpstreamProxyClient(proxy: proxy, goal: goal)
        let deadline = ContinuousClock.now + configuration.timeouts.upstreamProxy
        let buffer = HeapBuffer(count: 512)
        defer { withExtendedLifetime(buffer) {} }
        while true {
            do throws(SocketError) {
                switch client.next() {
                case .send(let bytes):
                    let output = HeapBuffer(bytes)
                    defer { withExtendedLifetime(output) {} }
                    try await stream.write(
                        UnsafeRawBufferPointer(output.bytes), timeout: configuration.timeouts.upstreamProxy)
                    continue
                case .read(let atMost):
                    // Never more than belongs to the answer: what follows is the origin's.
                    let room = UnsafeMutableRawBufferPointer(rebasing: buffer.bytes[..<min(atMost, buffer.bytes.count)])
                    let left = max(.milliseconds(1), deadline - .now)
                    let (count, _) = try await stream.read(into: room, timeout: left)
                    if count == 0 { client.ended() } else { client.feed(buffer.prefix(count)) }
                    continue
                case .connected: return stream
                case .failed: break
                }
            } catch {
                stream.close()
                throw DialFailure(error, to: place)
            }
            stream.close()
            throw client.failure
        }
    }
}
