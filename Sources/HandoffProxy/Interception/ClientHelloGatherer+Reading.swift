internal import EventLoop
internal import SessionTrace

extension ClientHelloGatherer {
    /// Gathers the hello of a device; what it reads is recorded at once. A client that closes or falls silent inside its
    /// hello is `unreadable`.
    ///
    /// - Parameters:
    ///   - first: bytes that have been read already.
    ///   - limit: the longest wait, all in all.
    /// - Throws: what reading throws, but for the time being over.
    static nonisolated(nonsending) func gather(
        from device: any DeviceStream, first: [UInt8], within limit: Duration
    ) async throws(SocketError) -> ClientHelloGatherer {
        var gatherer = ClientHelloGatherer()
        first.withUnsafeBytes { _ = gatherer.take($0) }
        device.record(secrets: [])
        let deadline = WallClock.now().advanced(by: limit)
        let buffer = HeapBuffer(count: 16_384)
        defer { withExtendedLifetime(buffer) {} }
        while case .needsInput = gatherer.progress {
            let left = Duration.nanoseconds(deadline.nanoseconds(since: WallClock.now()))
            guard left > .zero else {
                gatherer.giveUp(.tooSlow)
                break
            }
            do throws(SocketError) {
                let (count, _) = try await ByteTransport.device(device).read(into: buffer.bytes, timeout: left)
                if count == 0 {
                    gatherer.giveUp(.unfinished)
                } else {
                    gatherer.take(buffer.prefix(count))
                    device.record(secrets: [])
                }
            } catch {
                guard error.isTimeout else { throw error }
                gatherer.giveUp(.tooSlow)
            }
        }
        return gatherer
    }
}

extension Instant {
    /// The instant `duration` later.
    func advanced(by duration: Duration) -> Instant {
        let (seconds, attoseconds) = duration.components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflow else { return seconds < 0 ? .distantPast : .distantFuture }
        return advanced(byNanoseconds: product).advanced(byNanoseconds: attoseconds / 1_000_000_000)
    }
}
