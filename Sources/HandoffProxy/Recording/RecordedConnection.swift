public import SessionTrace
internal import WireFormats

/// One connection of a device, as its trace file is told of it. Thread-safe; every call costs next to nothing once
/// recording has stopped, and the relay need not know.
///
/// The connection is remembered, for late words of the proxy, as long as this object is.
public final class RecordedConnection: Sendable {
    /// Whose connection it is.
    public let device: DeviceKey
    /// The device's end.
    public let client: Endpoint
    /// The end that it called.
    public let server: Endpoint
    private let id: ConnectionID
    /// Nil when the device is not recorded.
    private let file: TraceFile?

    init(device: DeviceKey, client: Endpoint, server: Endpoint, id: ConnectionID, file: TraceFile?) {
        self.device = device
        self.client = client
        self.server = server
        self.id = id
        self.file = file
    }

    deinit {
        file?.forget(id)
    }

    /// Where it is recorded; nil when the device is not.
    public var path: String? { file?.path }

    /// Bytes that came from the device, with the time when they arrived. Secrets that they need come first.
    public func received(_ bytes: UnsafeRawBufferPointer, at time: Instant) {
        file?.append { $0.send(bytes, from: .client, on: id, at: time) }
    }

    /// Bytes towards the device that the kernel has taken.
    public func sent(_ bytes: UnsafeRawBufferPointer, at time: Instant) {
        file?.append { $0.send(bytes, from: .server, on: id, at: time) }
    }

    /// NSS key log lines, which are in the file before anything recorded after them.
    public func secrets(_ keyLog: [UInt8]) {
        guard !keyLog.isEmpty else { return }
        file?.append { $0.secrets(keyLog) }
    }

    /// Something that the proxy did or learnt: the comment of a bare frame of this connection.
    public func event(_ kind: ProxyEvent.Kind, at time: Instant, _ attributes: [String: String] = [:]) {
        file?.append { $0.event(ProxyEvent(kind: kind, at: time, attributes: attributes), on: id, at: time) }
    }

    /// The device's kernel has acknowledged `count` bytes of what was sent to it, counted from the start of the
    /// connection, and perhaps our FIN behind them.
    public func acknowledged(_ count: UInt64, includingFinish: Bool = false, at time: Instant) {
        file?.append { $0.acknowledge(upTo: count, includingFinish: includingFinish, on: id, at: time) }
    }

    /// A side has finished sending.
    public func finished(_ side: Side, at time: Instant) {
        file?.append { $0.finish(side, on: id, at: time) }
    }

    /// A side has broken the connection off.
    public func reset(_ side: Side, at time: Instant) {
        file?.append { $0.reset(side, on: id, at: time) }
    }

    /// The socket has been closed: what the kernel does then for a side of ours that had not finished is a FIN.
    public func closed(at time: Instant) {
        finished(.server, at: time)
    }
}
