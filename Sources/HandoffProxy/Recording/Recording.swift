public import SessionTrace
internal import Synchronization
internal import WireFormats

/// Everything that one run records: a trace file for each device (DESIGN "The trace file is a pcapng file").
///
///     NAME.pcapng            the first device, and marks before any device is seen
///     NAME.ADDRESS.pcapng    every further device
public final class Recording: Sendable {
    /// Marks of a whole run that a device which is seen later still has to be told of; further ones are not kept.
    private static let standingMarkLimit = 1_000
    /// Addresses whose device is remembered; beyond that all are looked up anew.
    private static let addressLimit = 4_096

    private struct StandingMark {
        var mark: Mark
        var from: Endpoint
        var to: Endpoint
        var at: Instant
    }

    private struct State {
        /// Files in the order of their making, the first one without a device until one is seen.
        var files: [(device: DeviceKey?, file: TraceFile)] = []
        var addresses: [IPAddress: DeviceKey] = [:]
        var names: TraceFileNames
        var refused: Set<DeviceKey> = []
        var standingMarks: [StandingMark] = []
        var markCount = 0
        var isStopped = false
    }

    private let version: String
    private let options: RecordingOptions
    private let state: Mutex<State>
    private let connections = Atomic<Int>(0)
    /// What the passive captures have to know.
    private let knowledge = Mutex(BypassSorter.Knowledge())
    private let captures: [BypassCapture]
    private let onFile: @Sendable (RecordingFile) -> RecordingFollower
    /// Passive captures that ended before the recording did.
    private let endedCaptures = Mutex<Set<Int>>([])
    private let onNotice: @Sendable (RecordingNotice) -> Void

    /// Begins to record: the first trace file is made at once, so that a name that is taken or a folder that can't be
    /// written is known before a device calls.
    ///
    /// - Parameters:
    ///   - path: of the first file; `.pcapng` is added where it lacks.
    ///   - version: of the program.
    ///   - started: when the run began.
    ///   - onFile: called for every file once it is made, before anything is written to it; may be called while a
    ///     connection is being accepted, so it has to be quick.
    ///   - onNotice: told what the person at the terminal has to know; called on any thread.
    public init(
        path: String, version: String, started: Instant, options: RecordingOptions = RecordingOptions(),
        onFile: @escaping @Sendable (RecordingFile) -> RecordingFollower = { _ in RecordingFollower() },
        onNotice: @escaping @Sendable (RecordingNotice) -> Void = { _ in }
    ) throws(RecordingError) {
        self.version = version
        self.options = options
        self.onFile = onFile
        self.onNotice = onNotice
        var captures: [BypassCapture] = []
        for interface in options.alsoCapture { captures.append(try BypassCapture(interface)) }
        self.captures = captures
        knowledge.withLock { knowledge in
            for (address, device) in options.knownDevices { knowledge.devices[address.unmapped] = device }
        }
        let names = TraceFileNames(path)
        let file = try Self.makeFile(
            names.first, version: version, started: started, options: options, captures: captures,
            onNotice: onNotice)
        file.follow(onFile(RecordingFile(path: names.first, device: options.device)))
        state = Mutex(State(files: [(options.device, file)], names: names))
    }

    deinit {
        for (_, file) in state.withLock({ $0.files }) { file.end { _ in } }
    }

    /// A connection has been accepted: its handshake is recorded in its device's file.
    ///
    /// - Parameters:
    ///   - client: the device's end.
    ///   - server: explicit proxy: the accepted socket's own end; transparent: the original destination.
    ///   - device: whose it is, where the caller knows (a proxy credential); nil to tell by the address.
    public func open(
        client: Endpoint, server: Endpoint, at time: Instant, device: DeviceKey? = nil
    ) -> RecordedConnection {
        // A dual-stack listener sees IPv4 in its IPv6 form; on the wire it was IPv4.
        let client = client.unmapped
        let server = server.unmapped
        isOurs(client, server)
        let id = ConnectionID(connections.add(1, ordering: .relaxed).oldValue)
        let (key, file) = file(of: client.address, device: device, at: time)
        file?.append { $0.open(id, client: client, server: server, at: time) }
        return RecordedConnection(device: key, client: client, server: server, id: id, file: file)
    }

    /// Whether a client is a device that is recorded already, or is told to be one.
    public func knows(_ client: IPAddress) -> Bool {
        options.device != nil || state.withLock { $0.addresses[client.unmapped] != nil }
    }

    /// Records a mark and says where.
    ///
    /// It goes into the file of `device`, of the device that the mark names, or of the device that it came from. A mark
    /// that concerns no device in particular goes into all files.
    ///
    /// - Parameters:
    ///   - from: who sent it.
    ///   - to: where it arrived; the port in the trace is always that of marks.
    ///   - time: when it arrived.
    public func mark(
        _ mark: Mark, from: Endpoint, to: Endpoint, at time: Instant, device: DeviceKey? = nil
    ) -> MarkReceipt {
        let from = from.unmapped
        let to = Endpoint(address: to.address.unmapped, port: TraceWriter.markPort)
        let (number, files) = state.withLock { state -> (Int, [TraceFile]) in
            state.markCount += 1
            let wanted =
                device ?? mark.device.flatMap { Self.device(named: $0, in: state) }
                ?? state.addresses[from.address]
            if let wanted, let own = state.files.first(where: { $0.device == wanted }) {
                return (state.markCount, [own.file])
            }
            if mark.describesRun, state.standingMarks.count < Self.standingMarkLimit {
                state.standingMarks.append(StandingMark(mark: mark, from: from, to: to, at: time))
            }
            return (state.markCount, state.files.map(\.file))
        }
        let taken = files.filter { file in file.append { $0.mark(mark, from: from, to: to, at: time) } }
        return MarkReceipt(sequenceNumber: number, at: time, files: taken.map(\.path))
    }

    /// Ends all files in order: statistics, and everything is written on return. What is recorded later is lost.
    public func stop(at time: Instant) {
        let files = state.withLock { state in
            state.isStopped = true
            return state.files
        }
        // The captures' last packets still go into the files.
        for capture in captures { capture.stop() }
        let dropped = captures.map(\.counts.dropped)
        let endedEarly = endedCaptures.withLock { $0 }
        for (_, file) in files {
            file.end { $0.end(at: time, passiveDropped: dropped, endedEarly: endedEarly) }
        }
    }

    /// What has become of each file, in the order of their making.
    public var status: [FileStatus] {
        state.withLock { $0.files }.map { device, file in file.status(device: device) }
    }

    /// The file in which a client is recorded, and how much is recorded in it by now; nil for a client that was never seen.
    public func place(of client: IPAddress) -> (path: String, offset: UInt64)? {
        let file = state.withLock { state -> TraceFile? in
            guard let key = options.device ?? state.addresses[client.unmapped] else { return nil }
            return state.files.first { $0.device == key }?.file
        }
        return file.map { ($0.path, $0.end) }
    }

    // MARK: Traffic around the proxy

    /// Begins the passive captures of `alsoCapture`, if there are any, once the proxy listens.
    ///
    /// - Parameter own: our own listeners, control and mark ports, whose traffic is no business of the trace.
    public func startCapture(excluding own: [Endpoint]) {
        knowledge.withLock { knowledge in
            knowledge.own = own.map(\.unmapped)
            knowledge.version += 1
        }
        for (index, capture) in captures.enumerated() {
            let owner = BypassCapture.Owner(
                withKnowledge: { [weak self] body in self?.knowledge.withLock { body(&$0) } },
                record: { [weak self] packets in self?.record(packets, of: index) },
                ended: { [weak self, onNotice, name = capture.capture.interface] error in
                    self?.endedCaptures.withLock { _ = $0.insert(index) }
                    onNotice(.captureEnded(interface: name, reason: error.description))
                })
            capture.start(owner)
        }
    }

    /// A conversation of our own, one that no capture may take for the device's: the leg to the origin, above all when
    /// device and proxy share an address.
    public func isOurs(_ local: Endpoint, _ remote: Endpoint) {
        guard !captures.isEmpty else { return }
        let flow = FlowKey(local, remote, protocolNumber: 6)
        knowledge.withLock { $0.proxied.insert(flow) }
    }

    /// What each passive capture has seen so far, in the order of `alsoCapture`.
    public var captureCounts: [CaptureCounts] { captures.map(\.counts) }

    private func record(_ packets: [BypassSorter.Packet], of capture: Int) {
        for packet in packets {
            let file = state.withLock { state in state.files.first { $0.device == packet.device }?.file }
            let isRecorded = file?.append { trace in
                packet.bytes.withUnsafeBytes {
                    trace.captured($0, on: capture, at: packet.time, originalLength: packet.originalLength)
                }
            }
            if isRecorded == true, let flow = packet.newFlow { onNotice(.wentAround(flow)) }
        }
    }

    // MARK: Devices and their files

    private static func device(named name: String, in state: State) -> DeviceKey? {
        state.files.lazy.compactMap(\.device).first { $0 == .named(name) || $0.description == name }
            ?? IPAddress(name).flatMap { state.addresses[$0.unmapped] }
    }

    private func file(
        of address: IPAddress, device: DeviceKey?, at time: Instant
    ) -> (device: DeviceKey, file: TraceFile?) {
        var notice: RecordingNotice?
        let found = state.withLock { state -> (DeviceKey, TraceFile?) in
            let key = key(of: address, device: device, in: &state)
            if let known = state.files.first(where: { $0.device == key }) { return (key, known.file) }
            guard !state.isStopped else { return (key, nil) }
            if state.files[0].device == nil {
                state.files[0].device = key
                return (key, state.files[0].file)
            }
            // One notice a device; so many devices that do not fit are not told one by one.
            let isNews = state.refused.count < Self.addressLimit && !state.refused.contains(key)
            guard state.files.count < options.fileLimit else {
                if isNews { notice = .tooManyDevices(key, limit: options.fileLimit) }
                state.refused.insert(key)
                return (key, nil)
            }
            do throws(RecordingError) {
                return (key, try add(key, address: address, at: time, to: &state))
            } catch {
                if isNews { notice = .unrecorded(key, error) }
                if state.refused.count < Self.addressLimit { state.refused.insert(key) }
                return (key, nil)
            }
        }
        if let notice { onNotice(notice) }
        return found
    }

    private func key(of address: IPAddress, device: DeviceKey?, in state: inout State) -> DeviceKey {
        let known = state.addresses[address]
        if let device = device ?? options.device {
            if known != device { remember(device, at: address, in: &state) }
            return device
        }
        if let known { return known }
        let card = address.isLoopback ? nil : NeighbourTable.current().hardwareAddress(of: address)
        let key = options.knownDevices[address] ?? card.map(DeviceKey.hardware) ?? .address(address)
        remember(key, at: address, in: &state)
        return key
    }

    private func remember(_ key: DeviceKey, at address: IPAddress, in state: inout State) {
        if state.addresses.count >= Self.addressLimit { state.addresses.removeAll(keepingCapacity: true) }
        state.addresses[address] = key
        guard !captures.isEmpty else { return }
        knowledge.withLock { knowledge in
            guard knowledge.devices.count < Self.addressLimit || knowledge.devices[address] != nil else { return }
            if knowledge.devices.updateValue(key, forKey: address) == nil, address.isLoopback { knowledge.version += 1 }
        }
    }

    private func add(
        _ key: DeviceKey, address: IPAddress, at time: Instant, to state: inout State
    ) throws(RecordingError) -> TraceFile {
        var file: TraceFile?
        while file == nil {
            let path = state.names.next(for: key, address: address)
            do throws(RecordingError) {
                file = try Self.makeFile(
                    path, version: version, started: time, options: options, captures: captures,
                    onNotice: onNotice)
            } catch {
                // A name that is taken is left alone; the next one is tried.
                guard error.code == .fileExists, state.names.hasMore else { throw error }
            }
        }
        guard let file else { throw RecordingError(code: .notWritable, subject: "", description: "") }
        file.follow(onFile(RecordingFile(path: file.path, device: key)))
        state.files.append((key, file))
        for standing in state.standingMarks {
            file.append { $0.mark(standing.mark, from: standing.from, to: standing.to, at: standing.at) }
        }
        return file
    }

    private static func makeFile(
        _ path: String, version: String, started: Instant, options: RecordingOptions, captures: [BypassCapture],
        onNotice: @escaping @Sendable (RecordingNotice) -> Void
    ) throws(RecordingError) -> TraceFile {
        let passive = captures.map {
            TraceWriter.PassiveInterface(name: $0.capture.interface, linkType: $0.capture.linkType)
        }
        return TraceFile(
            try BlockFile(path: path, limit: options.maximumFileSize),
            trace: TraceWriter(version: version, started: started, passive: passive), queueLimit: options.queueLimit
        ) { reason in
            onNotice(.stopped(path: path, reason))
        }
    }
}

extension Mark {
    /// Whether it says what the run is about, not what was done to a device at a time.
    fileprivate var describesRun: Bool {
        switch kind {
        case .scenario, .note: true
        default: false
        }
    }
}
