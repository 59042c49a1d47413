internal import EventLoop
internal import SessionTrace

/// Bytes in both directions, as they are.
extension ProxiedConnection {
    /// What a direction's end means for the other; confined to the actor.
    private final class RawRelay {
        let device: any DeviceStream
        let upstream: TCPStream
        /// Whether everything that the device sent before its end has been passed on.
        var isUpDone = false

        init(_ device: any DeviceStream, _ upstream: TCPStream) {
            self.device = device
            self.upstream = upstream
        }
    }

    /// How long what one side sent before its RST may take to reach the other.
    static let lastWords = Duration.seconds(1)

    /// Relays until both sides have ended: half-close as half-close, RST as RST after what came before it. Reads only when the
    /// other side has taken what was read before. `firstBytes`: what has been read of the device already.
    ///
    /// A device that breaks off while both directions are stuck ends the connection to the origin within a second.
    func relayRaw(device: any DeviceStream, firstBytes: [UInt8], upstream: TCPStream) async {
        device.socket.keepsPending = false
        device.record(secrets: [])
        let relay = RawRelay(device, upstream)
        await race(
            { await self.relayBoth(relay, firstBytes: firstBytes) },
            { await self.watchDevice(relay) })
        upstream.close()
    }

    private func relayBoth(_ relay: RawRelay, firstBytes: [UInt8]) async {
        await together(
            {
                await self.relayUp(relay, firstBytes: firstBytes)
                relay.isUpDone = true
            },
            { await self.relayDown(relay) })
    }

    /// Ends when the device has broken off and what it said before has been passed on, or can't be in time.
    private func watchDevice(_ relay: RawRelay) async {
        do throws(SocketError) {
            _ = try await relay.device.socket.stream.waitFailed()
        } catch {
            // The socket was closed on this side: the directions end by themselves. Cancellation is at once.
            try? await LoopTimer.sleep(Self.lastWords)
            return
        }
        await upTo(Self.lastWords) { relay.isUpDone }
        relay.upstream.reset()
    }

    private func relayUp(_ relay: RawRelay, firstBytes: [UInt8]) async {
        let (device, upstream) = (relay.device, relay.upstream)
        let buffer = HeapBuffer(count: configuration.limits.relayBufferBytes)
        defer { withExtendedLifetime(buffer) {} }
        do throws(SocketError) {
            if !firstBytes.isEmpty {
                let first = HeapBuffer(firstBytes)
                defer { withExtendedLifetime(first) {} }
                try await upstream.write(UnsafeRawBufferPointer(first.bytes))
            }
        } catch {
            return
        }
        while true {
            let count: Int
            do throws(SocketError) {
                if device === device.socket {
                    count = try await device.socket.readRecording(into: buffer.bytes).count
                } else {
                    count = try await device.read(into: buffer.bytes).count
                    device.record(secrets: [])
                }
            } catch {
                guard !error.isCancelled else { return }
                await upTo(Self.lastWords) { (upstream.acknowledgement()?.bytesOutstanding ?? 0) == 0 }
                upstream.reset()
                return
            }
            if count == 0 { break }
            // The origin that takes no more may still have something to say; the other direction finds its end.
            do throws(SocketError) { try await upstream.write(buffer.prefix(count)) } catch { return }
        }
        upstream.finishWriting()
    }

    private func relayDown(_ relay: RawRelay) async {
        let (device, upstream) = (relay.device, relay.upstream)
        let buffer = HeapBuffer(count: configuration.limits.relayBufferBytes)
        defer { withExtendedLifetime(buffer) {} }
        while true {
            let count: Int
            do throws(SocketError) {
                count = try await upstream.read(into: buffer.bytes).count
            } catch {
                guard !error.isCancelled, !error.isClosed else { return }
                await settle(device.socket)
                device.reset()
                return
            }
            if count == 0 { break }
            activity.note(WallClock.now())
            do throws(SocketError) { try await device.write(buffer.prefix(count)) } catch {
                // The device is gone. What it said before is passed on first, by the other direction.
                await upTo(Self.lastWords) { relay.isUpDone }
                if !error.isCancelled { upstream.reset() }
                return
            }
        }
        device.finishWriting()
    }

    /// Waits until `condition` holds, no longer than `limit`.
    func upTo(_ limit: Duration, _ condition: () -> Bool) async {
        let deadline = ContinuousClock.now + limit
        while !condition(), ContinuousClock.now < deadline {
            do { try await LoopTimer.sleep(.milliseconds(5)) } catch { return }
        }
    }
}
