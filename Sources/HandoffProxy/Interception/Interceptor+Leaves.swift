internal import Crypto
internal import EventLoop
internal import SessionTrace

/// What a device's word on our leaf means for the recording, the terminal and its next connections.
extension Interceptor {
    /// A device finished a handshake with our leaf.
    func deviceTrusts(_ device: IPAddress, ja4: String, name: HostName) {
        trust?.finished(device: device, ja4: ja4, name: name.text, at: WallClock.now())
    }

    /// A device refused our leaf for `name`: it is let through from the next connection on, unless the host matters.
    func leafRefused(
        by client: Endpoint, name: HostName, ja4: String, byAlert: Bool, alert: UInt8?, recorded: RecordedConnection
    ) {
        let now = WallClock.now()
        let isLetThrough = policy.letsThroughAfterRefusal(name)
        let fix =
            "Install and trust this proxy's certificate authority on the device (http://mark.handoff.test/). An app that "
            + "pins its certificates or ignores user authorities needs a debug build that does not."
        var attributes = ["name": name.text, "how": byAlert ? "alert" : "close", "ja4": ja4, "fix": fix]
        attributes["alert"] = alert.map(TLSAlert.name)
        recorded.event(.leafRefused, at: now, attributes)
        trust?.refused(device: client.address, ja4: ja4, name: name.text, at: now)
        let how = byAlert ? "alert \(alert.map(TLSAlert.name) ?? "")" : "it closed the connection"
        var words = "\(name): the client refused our certificate (\(how)). "
        if isLetThrough {
            refusals.add(PassthroughTable.Key(client: client.address, name: name, ja4: ja4), at: now)
            words += "Its next connections there are relayed unread for 10 minutes."
        } else {
            words += "The host matters, so it is not let through. \(fix)"
        }
        live.post(
            LiveEvent(.leafRefused, at: now, client: client, host: name.text, text: words, isAlarm: !isLetThrough))
    }

    /// A device finished the handshake for `name` and closed without a byte.
    func leafSuspected(by client: Endpoint, name: HostName, ja4: String, recorded: RecordedConnection) {
        let now = WallClock.now()
        recorded.event(.leafSuspected, at: now, ["name": name.text, "ja4": ja4])
        live.post(
            LiveEvent(
                .leafSuspected, at: now, client: client, host: name.text,
                text:
                    "\(name): the client closed right after the handshake, as an app that pins its certificates does. "
                    + "If it does so each time, use a build without pinning.",
                isAlarm: policy.matters(name)))
    }

    /// A fault was injected, or could not be.
    func report(_ record: FaultRecord, client: Endpoint, recorded: RecordedConnection) {
        let now = WallClock.now()
        recorded.event(.fault, at: now, record.attributes)
        live.post(
            LiveEvent(
                .fault, at: now, client: client, host: record.host.text, text: record.sentence,
                isAlarm: record.exchange == nil))
    }
}
