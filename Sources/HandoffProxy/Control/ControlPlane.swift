public import SessionTrace
internal import Synchronization
internal import WireFormats

/// Why the control API refuses something, in one sentence.
public struct ControlRefusal: Error, Hashable, Sendable {
    /// The sentence.
    public var sentence: String

    /// Makes a refusal.
    public init(_ sentence: String) {
        self.sentence = sentence
    }
}

/// Faults as the control API sets and shows them while a recording runs.
public struct FaultControls: Sendable {
    /// Every fault that is set, each as a JSON object.
    public var list: @Sendable () -> [JSONValue]
    /// Sets a fault, written as for `--fault`; throws a `ControlRefusal`.
    public var add: @Sendable (String) throws(ControlRefusal) -> Void
    /// Removes all faults and says how many there were.
    public var removeAll: @Sendable () -> Int

    /// Makes a set of controls.
    public init(
        list: @escaping @Sendable () -> [JSONValue],
        add: @escaping @Sendable (String) throws(ControlRefusal) -> Void,
        removeAll: @escaping @Sendable () -> Int
    ) {
        self.list = list
        self.add = add
        self.removeAll = removeAll
    }
}

/// What devices, people and scripts ask of a running recorder: marks, the set-up page, the control API. Thread-safe.
///
/// It decides; `ControlListeners` and the proxy's own connections bring the bytes. Marks are taken one at a time, so that
/// their sequence numbers are in the order of the recording.
public final class ControlPlane: Sendable {
    /// What the control plane needs of the rest of the recorder.
    public struct Seams: Sendable {
        /// Records a mark that came from `from` and arrived at `to`, and says where it went.
        public var record: @Sendable (_ mark: Mark, _ from: Endpoint, _ to: Endpoint, _ at: Instant) -> RecordedMark
        /// Members of `GET /status` beside those that the control plane knows itself: files, connections.
        public var status: @Sendable () -> [JSONMember] = { [] }
        /// Ends the recording, soon.
        public var stop: @Sendable () -> Void = {}
        /// Faults; nil when none can be injected.
        public var faults: FaultControls?

        /// Seams that only record.
        public init(record: @escaping @Sendable (Mark, Endpoint, Endpoint, Instant) -> RecordedMark) {
            self.record = record
        }
    }

    /// The program's version, as `GET /status` tells it.
    public let version: String
    /// Who may send marks by datagram.
    public let allowedClients: [AddressRange]
    /// What is known about the devices' trust; told by the interception.
    public let trust = TrustLedger()
    /// What happens, for `GET /events`.
    public let events = EventFeed()
    /// The token of the control API.
    public let token: ControlSecret
    /// The word in the path of marks in band.
    public let markSecret: ControlSecret
    /// The part of ids that this run gives to marks without one; for `MarkKeys` too.
    public let idPrefix: String

    private struct State {
        var intake: MarkIntake
        var latest: MarkAcknowledgement?
        var seams: Seams
        var listeners: [Endpoint] = []
    }

    private let state: Mutex<State>
    private let downloads: CertificateDownloads
    private let started: Instant

    /// A control plane with secrets of its own.
    public init(
        version: String, downloads: CertificateDownloads, seams: Seams,
        allowedClients: [AddressRange] = AddressRange.localNetworks, started: Instant
    ) throws(ControlFileError) {
        self.version = version
        self.downloads = downloads
        self.allowedClients = allowedClients
        self.started = started
        token = try .random()
        markSecret = try .random(bytes: ControlSecret.pathByteCount)
        idPrefix = String(try ControlSecret.random().text.filter { $0.isLowercase }.prefix(4))
        state = Mutex(State(intake: MarkIntake(idPrefix: idPrefix), seams: seams))
    }

    /// Connects parts that are made after the control plane.
    public func connect(_ change: (inout Seams) -> Void) {
        state.withLock { change(&$0.seams) }
    }

    /// A listener of the proxy is bound: devices may be told of it.
    public func listenerBound(_ address: Endpoint) {
        state.withLock { state in
            if !state.listeners.contains(address) { state.listeners.append(address) }
        }
    }

    /// The address of marks in band, through the proxy: append `?kind=tap&target=share`.
    public var markAddress: String { "http://\(TrustLedger.markHost)/m/\(markSecret.text)/" }

    /// Tells the readers of `GET /events` what the terminal shows too.
    public func publish(_ event: LiveEvent) {
        var members = [
            JSONMember(name: "at", value: .string(event.at.rfc3339)),
            JSONMember(name: "text", value: .string(event.text)),
        ]
        if let client = event.client {
            members.append(JSONMember(name: "client", value: .string(client.description)))
        }
        if let host = event.host { members.append(JSONMember(name: "host", value: .string(host))) }
        if event.isAlarm { members.append(JSONMember(name: "alarm", value: .bool(true))) }
        events.publish(event.kind.rawValue, .object(members))
    }

    // MARK: - Marks

    /// Takes a mark as text.
    func take(_ object: [UInt8], from origin: MarkIntake.Origin) throws(MarkRefusal) -> MarkAcknowledgement {
        let outcome = state.withLock { state in
            Result { () throws(MarkRefusal) in
                switch try state.intake.read(object, origin: origin) {
                case .repeated(let acknowledgement): return acknowledgement
                case .new(let reading): return Self.record(reading, origin, &state)
                }
            }
        }
        let acknowledgement = try outcome.get()
        if !acknowledgement.isRepeat { events.publish("mark", acknowledgement.json) }
        return acknowledgement
    }

    /// Takes a mark that was made on this host: a key at the terminal.
    public func take(_ mark: Mark, at now: Instant) -> MarkAcknowledgement {
        let here = Endpoint(address: IPAddress(ipv4: 0x7F00_0001), port: 0)
        let reading = MarkIntake.MarkReading(mark: mark, warnings: [], content: TraceText.text(of: mark))
        let acknowledgement = state.withLock { state in
            Self.record(reading, MarkIntake.Origin(from: here, to: here, arrival: now), &state)
        }
        events.publish("mark", acknowledgement.json)
        return acknowledgement
    }

    private static func record(
        _ reading: MarkIntake.MarkReading, _ origin: MarkIntake.Origin, _ state: inout State
    ) -> MarkAcknowledgement {
        let place = state.seams.record(reading.mark, origin.from, origin.to, origin.arrival)
        let acknowledgement = state.intake.recorded(reading, as: place, origin: origin)
        state.latest = acknowledgement
        return acknowledgement
    }

    /// What a datagram to the port of marks is answered with; nil for none: it is no mark, or its sender is not allowed.
    func answer(datagram: [UInt8], from origin: MarkIntake.Origin) -> [UInt8]? {
        guard datagram.count <= TraceText.objectLimit, datagram.starts(with: TraceText.markPrefix.utf8),
            allowedClients.contains(where: { $0.contains(origin.from.address) })
        else { return nil }
        do throws(MarkRefusal) {
            let object = Array(datagram.dropFirst(TraceText.markPrefix.utf8.count))
            return Array("\(try take(object, from: origin).json)\n".utf8)
        } catch {
            return LocalResponse.refusal(error.status, error.sentence).body
        }
    }

    // MARK: - Requests

    /// What a connection does with a request: answer, stream events, or answer and then `askToStop`.
    enum Outcome: Hashable, Sendable {
        case response(LocalResponse)
        case events(after: Int?)
        case stop(LocalResponse)
    }

    /// Ends the recording, once whoever asked for it has the answer.
    func askToStop() {
        let stop = state.withLock { $0.seams.stop }
        stop()
    }

    /// Answers a request of a device.
    func answer(device request: LocalRequest, in context: LocalContext) -> LocalResponse {
        let site = state.withLock { state in
            DeviceSite(downloads: downloads, markSecret: markSecret, listeners: state.listeners)
        }
        let nonce = (try? ControlSecret.random(bytes: ControlSecret.pathByteCount).text) ?? ""
        let moment = DeviceSite.Moment(trust: trust.trust(of: context.client.address), nonce: nonce)
        switch site.answer(request, in: context, moment) {
        case .response(let response): return response
        case .pageFetchedTrustHost(let response):
            trust.pageFetched(device: context.client.address, at: context.arrival)
            return response
        case .mark(let object, let returnsToPage):
            do throws(MarkRefusal) {
                let acknowledgement = try take(object, from: Self.origin(context))
                guard returnsToPage else { return .json(200, acknowledgement.json) }
                let location = "/?marked=\(acknowledgement.recorded.sequence)"
                return LocalResponse(303, [.init(name: "Location", value: location)])
            } catch {
                return .refusal(error.status, error.sentence)
            }
        }
    }

    /// Answers a request to the control API.
    func answer(control request: LocalRequest, in context: LocalContext) -> Outcome {
        let seams = state.withLock { $0.seams }
        switch ControlSite(token: token).answer(request) {
        case .response(let response): return .response(response)
        case .events(let after): return .events(after: after)
        case .status: return .response(.json(200, status(at: context.arrival)))
        case .marks(let objects, let isList): return .response(take(objects, isList: isList, in: context))
        case .stop:
            return .stop(.json(202, .object([JSONMember(name: "stopping", value: .bool(true))])))
        case .listFaults, .addFaults, .removeFaults:
            guard let faults = seams.faults else {
                return .response(.refusal(501, "this recorder injects no faults"))
            }
            return .response(change(faults, ControlSite(token: token).answer(request)))
        }
    }

    private static func origin(_ context: LocalContext) -> MarkIntake.Origin {
        MarkIntake.Origin(from: context.client, to: context.local, arrival: context.arrival)
    }

    /// Takes marks in order, up to the first that can't be read; the answer tells how many were taken.
    private func take(_ objects: [[UInt8]], isList: Bool, in context: LocalContext) -> LocalResponse {
        var taken: [JSONValue] = []
        for (index, object) in objects.enumerated() {
            do throws(MarkRefusal) {
                taken.append(try take(object, from: Self.origin(context)).json)
            } catch {
                guard isList else { return .refusal(error.status, error.sentence) }
                return .json(
                    error.status,
                    .object([
                        JSONMember(name: "error", value: .string("mark \(index + 1): \(error.sentence)")),
                        JSONMember(name: "marks", value: .array(taken)),
                    ]))
            }
        }
        guard isList else { return .json(200, taken.first ?? .null) }
        return .json(200, .object([JSONMember(name: "marks", value: .array(taken))]))
    }

    private func change(_ faults: FaultControls, _ answer: ControlSite.Answer) -> LocalResponse {
        switch answer {
        case .addFaults(let rules):
            for rule in rules {
                do throws(ControlRefusal) {
                    try faults.add(rule)
                } catch {
                    return .refusal(400, error.sentence)
                }
            }
        case .removeFaults:
            let count = faults.removeAll()
            return .json(200, .object([JSONMember(name: "removed", value: .number(String(count)))]))
        case .response, .marks, .status, .events, .stop, .listFaults:
            break
        }
        return .json(200, .object([JSONMember(name: "faults", value: .array(faults.list()))]))
    }

    private func status(at now: Instant) -> JSONValue {
        let (count, latest, seams) = state.withLock { ($0.intake.count, $0.latest, $0.seams) }
        var members = [
            JSONMember(name: "tool", value: .string("handoff \(version)")),
            JSONMember(name: "started", value: .string(started.rfc3339)),
            JSONMember(name: "now", value: .string(now.rfc3339)),
        ]
        members += seams.status()
        members.append(
            JSONMember(
                name: "marks",
                value: .object([
                    JSONMember(name: "count", value: .number(String(count))),
                    JSONMember(name: "latest", value: latest?.json ?? .null),
                ])))
        members.append(
            JSONMember(
                name: "trust",
                value: .object(trust.all.map { JSONMember(name: $0.device.description, value: $0.trust.json) })))
        members.append(JSONMember(name: "faults", value: .array(seams.faults?.list() ?? [])))
        members.append(JSONMember(name: "next-event", value: .number(String(events.nextNumber))))
        return .object(members)
    }
}
