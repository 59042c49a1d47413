internal import EventLoop
internal import SessionTrace

/// The way to an origin's socket.
extension ProxiedConnection {
    /// Connects to `destination`, or says why not. Either way the attempt is an event in the trace.
    ///
    /// Names are resolved here, addresses are dialled as they are; what the name came to is checked, not the name.
    func dial(_ destination: Destination) async throws(DialFailure) -> TCPStream {
        do throws(DialFailure) {
            let upstream = try await connect(destination)
            event(
                .dialed,
                [
                    "host": destination.host, "address": upstream.peer.address.description,
                    "port": "\(upstream.peer.port)", "local": upstream.local.description,
                ])
            return upstream
        } catch {
            event(
                .dialFailed,
                ["host": destination.host, "port": "\(destination.port)", "reason": error.kind.rawValue])
            if error.kind != .cancelled {
                post(
                    error.kind == .destinationRefused ? .destinationRefused : .dialFailed, host: destination.host,
                    error.sentence)
            }
            throw error
        }
    }

    private func connect(_ destination: Destination) async throws(DialFailure) -> TCPStream {
        let override = HostName(destination.host).flatMap { name in
            configuration.resolveOverrides.lazy.compactMap { $0.target(for: name, port: destination.port) }.first
        }
        let goals: [Endpoint]
        if let override {
            // Whoever runs the proxy has said so.
            goals = [override]
        } else if let address = destination.address {
            goals = [try checked(Endpoint(address: address, port: destination.port), destination)]
        } else {
            goals = try await resolve(destination)
        }
        do throws(SocketError) {
            return try await TCPStream.connectFirst(of: goals, timeout: configuration.timeouts.dial)
        } catch {
            throw DialFailure(error, to: destination.authority)
        }
    }

    private func checked(_ goal: Endpoint, _ destination: Destination) throws(DialFailure) -> Endpoint {
        guard let reason = proxy.check.refusal(of: goal, for: client.address) else { return goal }
        throw DialFailure(
            kind: .destinationRefused,
            sentence: destination.address == nil
                ? "\(destination.host) is refused: it resolves to \(goal.address), which is \(reason)."
                : "\(goal) is refused: it is \(reason).")
    }

    private func resolve(_ destination: Destination) async throws(DialFailure) -> [Endpoint] {
        throw DialFailure(kind: .unresolvable, sentence: "\(destination.host) has no address.")
    }
}
