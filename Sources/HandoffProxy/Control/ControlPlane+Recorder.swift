internal import SessionTrace

extension ControlPlane.Seams {
    /// Marks go into `recording`, and its files are part of the status.
    public init(recording: Recording) {
        self.init { mark, from, to, at in
            let receipt = recording.mark(mark, from: from, to: to, at: at)
            return RecordedMark(sequence: receipt.sequenceNumber, files: receipt.files)
        }
        status = { [JSONMember(name: "files", value: .array(recording.status.map(\.json)))] }
    }
}

extension FaultControls {
    /// The faults of `table`.
    public init(_ table: FaultTable) {
        self.init(
            list: { table.statuses.map(\.json) },
            add: { text throws(ControlRefusal) in
                let rule: FaultRule
                do throws(FaultRuleError) {
                    rule = try FaultRule(parsing: text)
                } catch {
                    throw ControlRefusal("\(error)")
                }
                guard table.add(rule) != nil else {
                    throw ControlRefusal("there are \(FaultTable.ruleLimit) faults already")
                }
            },
            removeAll: {
                defer { table.clear() }
                return table.statuses.count
            })
    }
}

extension FaultStatus {
    /// The fault as `GET /faults` shows it.
    var json: JSONValue {
        .object([
            JSONMember(name: "id", value: .number(String(id))),
            JSONMember(name: "rule", value: .string(rule.description)),
            JSONMember(name: "fired", value: .number(String(fired))),
        ])
    }
}

extension FileStatus {
    /// The file as `GET /status` shows it.
    var json: JSONValue {
        .object([
            JSONMember(name: "path", value: .string(path)),
            JSONMember(name: "device", value: device.map { .string($0.description) } ?? .null),
            JSONMember(name: "bytes", value: .number(String(bytes))),
            JSONMember(name: "packets", value: .number(String(packets))),
            JSONMember(name: "recording", value: .bool(stopped == nil && !isComplete)),
            JSONMember(name: "stopped", value: stopped.map { .string($0.description) } ?? .null),
        ])
    }
}

extension HandoffProxy {
    /// Lets `control` answer what devices ask of the proxy itself, and tells it what happens. To be called once, before
    /// `start`.
    public func attach(_ control: ControlPlane) {
        take(control)
        control.connect { seams in
            let status = seams.status
            seams.status = { [weak self] in
                status() + [
                    JSONMember(name: "connections", value: .number(String(self?.openConnections ?? 0))),
                    JSONMember(
                        name: "listeners",
                        value: .array((self?.addresses ?? []).map { .string($0.description) })),
                ]
            }
        }
        let events = events
        // Ends with the stream, when the proxy stops.
        Task { for await event in events { control.publish(event) } }
    }
}
