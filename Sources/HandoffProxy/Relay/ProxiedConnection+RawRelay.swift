internal import EventLoop
internal import SessionTrace

/// Bytes in both directions, as they are.
extension ProxiedConnection {
    /// Relays until both sides have ended: half-close as half-close, RST as RST. Reads only when the other side has taken what
    /// was read before. `firstBytes`: what has been read of the device already. Closes neither socket in order; the caller does.
    func relayRaw(device: any DeviceStream, firstBytes: [UInt8], upstream: TCPStream) async {
        device.record(secrets: [])
        await together(
            { await self.relayUp(device, firstBytes: firstBytes, upstream: upstream) },
            { await self.relayDown(device, upstream: upstream) })
    }

    private func relayUp(_ device: any DeviceStream, firstBytes: [UInt8], upstream: TCPStream) async {
        let buffer = HeapBuffer(count: configuration.limits.relayBufferBytes)
        do throws(SocketError) {
            if !firstBytes.isEmpty {
                let first = HeapBuffer(firstBytes)
                try await upstream.write(UnsafeRawBufferPointer(first.bytes))
            }
            while true {
                let (count, _) = try await device.read(into: buffer.bytes)
                device.record(secrets: [])
                guard count > 0 else { break }
                try await upstream.write(buffer.prefix(count))
            }
            upstream.finishWriting()
        } catch {
            upstream.reset()
        }
    }

    private func relayDown(_ device: any DeviceStream, upstream: TCPStream) async {
        let buffer = HeapBuffer(count: configuration.limits.relayBufferBytes)
        do throws(SocketError) {
            while true {
                let (count, _) = try await upstream.read(into: buffer.bytes)
                guard count > 0 else { break }
                activity.note(WallClock.now())
                try await device.write(buffer.prefix(count))
            }
            device.finishWriting()
        } catch {
            device.reset()
        }
    }
}
