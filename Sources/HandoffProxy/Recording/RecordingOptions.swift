public import SessionTrace

/// How a run is recorded.
public struct RecordingOptions: Sendable {
    /// Most bytes of one trace file; nil for no quota. What is beyond it is not recorded (`--max-size`).
    public var maximumFileSize: UInt64?
    /// Bytes that may wait to be written, per file. Beyond them whoever records waits: memory stays bounded, and a disk
    /// that is slower than the network slows the network down.
    public var queueLimit = 1 << 20
    /// Most trace files of one run: devices beyond them are not recorded.
    public var fileLimit = 256
    /// The device that every client is, whatever its address (`--device`); nil to tell them apart.
    public var device: DeviceKey?
    /// Devices whose addresses are known beforehand.
    public var knownDevices: [IPAddress: DeviceKey] = [:]
    /// Network interfaces on which the devices' traffic around the proxy is captured (`--also-capture`).
    public var alsoCapture: [String] = []

    /// The defaults.
    public init() {}
}

/// A trace file that has been begun.
public struct RecordingFile: Sendable, Hashable {
    /// Where it is.
    public var path: String
    /// Whose it is; nil for the first file as long as no device has been seen.
    public var device: DeviceKey?

    /// Makes a description.
    public init(path: String, device: DeviceKey? = nil) {
        self.path = path
        self.device = device
    }
}

/// Who follows a trace file while it grows. Both are called by the file's writing thread, which waits for them to return; what
/// it had to say before somebody followed is told at once, by whoever begins to. So either may be called twice.
public struct RecordingFollower: Sendable {
    /// The file holds this many bytes now, whole blocks all of them.
    public var onWritten: @Sendable (UInt64) -> Void
    /// Nothing more will be written to the file.
    public var onEnded: @Sendable (FileStatus) -> Void

    /// Makes a follower.
    public init(
        onWritten: @escaping @Sendable (UInt64) -> Void = { _ in },
        onEnded: @escaping @Sendable (FileStatus) -> Void = { _ in }
    ) {
        self.onWritten = onWritten
        self.onEnded = onEnded
    }
}

/// What has become of a trace file.
public struct FileStatus: Sendable, Hashable {
    /// Where it is.
    public var path: String
    /// Whose it is; nil for the first file as long as no device has been seen.
    public var device: DeviceKey?
    /// Bytes in the file: whole blocks.
    public var bytes: UInt64
    /// Packets recorded so far, those that wait to be written included.
    public var packets: UInt64
    /// Why recording stopped before its time; nil while all is well.
    public var stopped: RecordingStop?
    /// Whether the file has been ended in order, with its statistics.
    public var isComplete = false
}

/// What a passive capture has seen of the devices.
public struct CaptureCounts: Sendable, Hashable {
    /// Packets in a trace file: traffic around the proxy.
    public var recorded: UInt64 = 0
    /// Packets left out because they belong to proxied connections, which are in the trace already.
    public var proxied: UInt64 = 0
    /// Packets lost for want of room.
    public var dropped: UInt64 = 0
}

/// Why a trace file could not be written any further.
public enum RecordingStop: Sendable, Hashable, CustomStringConvertible {
    /// The file has reached `maximumFileSize`, which is this many bytes.
    case quota(UInt64)
    /// The system refused to write, with this `errno`.
    case system(Int32)

    /// In words.
    public var description: String {
        switch self {
        case .quota(let bytes): "it has reached its largest size of \(bytes) bytes (--max-size)"
        case .system(let code): SystemError.words(code)
        }
    }
}

/// What a mark's sender is told.
public struct MarkReceipt: Sendable, Hashable {
    /// Counted from 1 over the run.
    public var sequenceNumber: Int
    /// When the mark was taken.
    public var at: Instant
    /// The trace files that it went into; empty once recording has stopped.
    public var files: [String]
}

/// What the person at the terminal has to be told by the recorder.
public enum RecordingNotice: Sendable, Hashable, CustomStringConvertible {
    /// A trace file takes no more; the relay goes on.
    case stopped(path: String, RecordingStop)
    /// A device beyond `fileLimit` is not recorded.
    case tooManyDevices(DeviceKey, limit: Int)
    /// A device's file could not be made.
    case unrecorded(DeviceKey, RecordingError)
    /// A flow of a device went around the proxy.
    case wentAround(BypassFlow)
    /// A capture of `alsoCapture` has ended before its time.
    case captureEnded(interface: String, reason: String)

    /// One line.
    public var description: String {
        switch self {
        case .stopped(let path, let reason):
            "RECORDING STOPPED: \(path): \(reason). The relay goes on; nothing more of it is in the trace."
        case .tooManyDevices(let device, let limit):
            "device \(device) is not recorded: \(limit) devices have a trace file already"
        case .unrecorded(let device, let error):
            "device \(device) is not recorded: \(error)"
        case .wentAround(let flow):
            "AROUND THE PROXY: \(flow)"
        case .captureEnded(let interface, let reason):
            "the capture on \(interface) has ended: \(reason)"
        }
    }
}

/// A flow that a device had without the proxy.
public struct BypassFlow: Sendable, Hashable, CustomStringConvertible {
    /// Whose.
    public var device: DeviceKey
    /// The IP protocol: `TCP`, `UDP`, or its number.
    public var transport: String
    /// The device's end.
    public var local: Endpoint
    /// The other end; port 0 where the protocol has none.
    public var remote: Endpoint
    /// A server's name that its first packet shows.
    public var name: String?
    /// The network interface on which it was seen.
    public var interface: String

    /// `TCP 192.0.2.10:50000 to 198.51.100.7:443 (api.partner.example) on wlan0`.
    public var description: String {
        "\(transport) \(local) to \(remote)\(name.map { " (\($0))" } ?? "") on \(interface)"
    }
}
