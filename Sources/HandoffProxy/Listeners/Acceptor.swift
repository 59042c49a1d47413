internal import EventLoop
internal import SessionTrace

/// A listener with the loop that it belongs to: accepts, and hands each connection to a loop of its own turn.
actor Acceptor {
    nonisolated let loop: EventLoop
    /// Where it listens; the true port.
    nonisolated let local: Endpoint
    /// What was asked for.
    nonisolated let address: ListenAddress
    private let listener: TCPListener
    private var shortage = ShortageEpisode()

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private init(_ listener: sending TCPListener, address: ListenAddress, loop: EventLoop) {
        local = listener.local
        self.listener = listener
        self.address = address
        self.loop = loop
    }

    /// Binds.
    static func listen(on address: ListenAddress, loop: EventLoop) async throws(ProxyError) -> Acceptor {
        do throws(SocketError) {
            let listener = try TCPListener.listen(
                on: address.endpoint, options: ListenOptions(isTransparent: address.isTransparent), loop: loop)
            return Acceptor(listener, address: address, loop: loop)
        } catch {
            throw ProxyError(.cannotListen, place: "\(address)", reason: "can't listen here: \(error)")
        }
    }

    /// Stops listening.
    func close() {
        listener.close()
    }

    /// Accepts until it is closed or cancelled; returns when all its connections have ended.
    func serve(for proxy: HandoffProxy) async {
        await withDiscardingTaskGroup { group in
            while true {
                do throws(SocketError) {
                    let accepted = try await listener.accept()
                    let connection = ProxiedConnection(accepted, proxy: proxy, loop: proxy.loops.next())
                    let isTransparent = address.isTransparent
                    group.addTask(executorPreference: connection.loop) {
                        await connection.run(accepted, isTransparentListener: isTransparent)
                    }
                } catch {
                    // Without descriptors the listener waits until there are some again; anything else is its end.
                    guard error.isShortage else { break }
                    let now = WallClock.now()
                    guard shortage.begins(at: now) else { continue }
                    proxy.live.post(
                        LiveEvent(
                            .limit, at: now,
                            text:
                                "No descriptor is left for another connection (\(error)): clients wait, or are turned "
                                + "away. A higher limit is set with ulimit -n.", isAlarm: true))
                }
            }
        }
    }
}
