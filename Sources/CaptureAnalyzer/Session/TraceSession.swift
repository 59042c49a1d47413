internal import SessionTrace
internal import WireFormats

/// The state of one trace while it is read: records of the file in, session events out.
struct TraceSession {
    private var streams = PacketStreams()
    private var analyzer: SessionAnalyzer
    private static let passiveEnded =
        "the capture beside the proxy ended before the recording: what went around the proxy after that is not known"
    private static let stoppedHard = "the recorder was stopped hard: the file has no statistics at its end"

    /// What was not read of the files beside the trace.
    private let companionNotes: [String]
    /// Key logs in which no line is a key.
    private var keylessLogs: [String] = []
    /// Processes that other sources name.
    private var actors: ActorJoin
    private var hasBegun = false
    private var lastPacket = PacketReference(number: 0, time: .distantPast)

    init(companions: Companions, options: TraceOptions) {
        var decryption = DecryptionContext()
        for log in companions.keyLogs {
            let before = decryption.keys.readableLines
            log.bytes.withUnsafeBytes { decryption.keys.add(nss: $0) }
            if decryption.keys.readableLines == before { keylessLogs.append(log.path) }
        }
        companionNotes = companions.notes
        actors = ActorJoin(companions.actors)
        var state = SessionState(decryption: decryption, limits: ConversationLimits())
        state.facts.keepsRequests = options.keepsRequestLines
        analyzer = SessionAnalyzer(state: state)
    }

    /// Gives the marks and activity starts of side files, before the first packet.
    mutating func begin(_ companions: Companions, into receive: (SessionEvent) -> Void) {
        for file in companions.marks { analyzer.state.take(file) }
        deliver(into: receive)
        for start in actors.activities { receive(.activityStarted(start)) }
    }

    /// Gives the events since the last time; a connection of which the capture names no process, with its owner by other
    /// sources.
    private mutating func deliver(into receive: (SessionEvent) -> Void) {
        let events = analyzer.state.takeEvents()
        guard !actors.isEmpty else {
            for event in events { receive(event) }
            return
        }
        for event in events {
            receive(event)
            if case .connectionOpened(let connection) = event,
                let process = actors.process(of: connection, isOwnRecording: analyzer.state.proxy.isOwnRecording)
            {
                receive(.processIdentified(connection.id, process))
            } else if case .connectionClosed(let end) = event {
                actors.close(end.id)
            }
        }
    }

    /// Takes the next record of the file.
    mutating func take(_ record: CaptureRecord, into receive: (SessionEvent) -> Void) {
        if !hasBegun {
            hasBegun = true
            // A classic file (one that does not begin with a section) holds no keys: none can come later.
            if case .section = record {} else { analyzer.state.decryption.keysAreComplete = true }
        }
        switch record {
        case .packet(let packet):
            take(packet)
        case .secrets(let secrets):
            if secrets.kind == .tlsKeyLog {
                secrets.bytes.withUnsafeBytes { analyzer.state.decryption.keys.add(nss: $0) }
            }
        case .interface(let interface):
            if let name = interface.name { streams.name(interface: interface.index, name) }
        case .opaque(let block):
            // Other analysers number such blocks among the packets.
            analyzer.state.facts.packets += 1
            analyzer.state.facts.capturedBytes += block.length
            analyzer.state.facts.wireBytes += block.length
        case .section(let section):
            if section.userApplication?.hasPrefix(TraceText.applicationPrefix) ?? false {
                analyzer.state.proxy.isOwnRecording = true
            }
        case .statistics, .names:
            break
        }
        deliver(into: receive)
    }

    private mutating func take(_ packet: CapturedPacket) {
        let reference = packet.reference
        lastPacket = reference
        analyzer.state.facts.count(packet)
        let owner = streams.receive(packet, into: &analyzer)
        guard !packet.comments.isEmpty else { return }
        let subject = analyzer.innermost(of: owner)
        for comment in packet.comments { analyzer.state.take(comment: comment, at: reference, on: subject) }
    }

    /// Ends the trace.
    mutating func finish(_ file: CaptureFileSummary, into receive: (SessionEvent) -> Void) -> TraceReading {
        streams.finish(into: &analyzer)
        var facts = analyzer.state.facts
        facts.tcpStreams = streams.transport.tcpConnections
        facts.udpStreams = streams.transport.udpConversations
        facts.ipFragments = streams.network.ipFragments
        facts.retransmissions = streams.transport.repeatedSegments
        facts.outOfOrder = streams.transport.outOfOrderSegments
        facts.malformed += streams.network.malformed
        if !file.isComplete { facts.readError = file.notes.first }
        let summary = summary(of: file, facts: facts)
        for spot in blindSpots(of: file, summary) { analyzer.state.emit(.blindSpot(spot)) }
        deliver(into: receive)
        receive(.traceEnded(summary))
        return TraceReading(summary: summary, facts: facts, filteredPackets: file.filteredOut)
    }

    private func summary(of file: CaptureFileSummary, facts: CaptureFacts) -> TraceSummary {
        var summary = TraceSummary()
        summary.packets = facts.packets
        summary.span = facts.span
        // The clock of other recorders' statistics need not be that of their packets.
        summary.ended = file.isOwnRecording ? file.ended : nil
        summary.isComplete = file.isComplete
        summary.isOwnRecording = file.isOwnRecording
        summary.droppedPackets = file.droppedPackets
        // A recording of the proxy shows what went through it; a capture of the link shows everything on it.
        // With a second interface it shows what went around the proxy too, names among it.
        let hasPassive = file.isOwnRecording && file.interfaceNames.contains { $0 != TraceWriter.interfaceName }
        let passiveEndedEarly = hasPassive && file.hasStatistics && !file.interfacesWithoutStatistics.isEmpty
        let isWatched = !file.isOwnRecording || (hasPassive && !passiveEndedEarly)
        summary.layers = isWatched ? Set(TraceSummary.Layer.allCases) : [.transport, .tls, .http]
        summary.watchedForBypass = isWatched
        summary.decryption = analyzer.state.secureSessions
        let keys = analyzer.state.decryption.keys
        summary.decryption.keys = keys.entryCount
        summary.decryption.unusedKeys = keys.entryCount - keys.usedCount
        summary.unreadableMarks = analyzer.state.unreadableMarks
        summary.notes = file.notes + networkNotes + analyzer.state.notes + companionNotes
        summary.notes += keylessLogs.map { "\($0) holds no key: give an NSS key log (SSLKEYLOGFILE)" }
        if file.isOwnRecording, !file.hasStatistics { summary.notes.append(Self.stoppedHard) }
        if passiveEndedEarly { summary.notes.append(Self.passiveEnded) }
        return summary
    }

    /// What was left out of the packets, in words.
    private var networkNotes: [String] {
        let counters = streams.network
        let counts: KeyValuePairs<String, Int> = [
            "of a link type that is not read": counters.unsupportedLinkType,
            "captured too short to hold their headers": counters.headersCutShort,
            "encrypted on the air": counters.encryptedOnAir,
            "with headers that contradict themselves": counters.malformed,
        ]
        return counts.filter { $0.value > 0 }.map { "\($0.value) packet\($0.value == 1 ? "" : "s") \($0.key)" }
    }

    /// What the file as a whole could not show.
    private func blindSpots(of file: CaptureFileSummary, _ summary: TraceSummary) -> [BlindSpot] {
        let span = summary.span ?? TimeSpan(.distantPast, .distantFuture)
        var spots: [BlindSpot] = []
        func add(_ reason: BlindSpot.Reason, _ span: TimeSpan, _ detail: String) {
            spots.append(BlindSpot(reason: reason, span: span, noticed: lastPacket, detail: detail))
        }
        if let dropped = file.droppedPackets, dropped > 0 {
            add(.captureDrops, span, "\(dropped) packet\(dropped == 1 ? "" : "s") dropped while capturing")
        }
        if file.isCutShort || file.isDamaged {
            add(.fileCutShort, TimeSpan(span.latest, .distantFuture), file.notes.last ?? "")
        }
        if file.isOwnRecording, !file.hasStatistics {
            // Only our own recorder promises statistics at the end; the files of others are whole without.
            add(.recordingStopped, TimeSpan(span.latest, .distantFuture), Self.stoppedHard)
        }
        if file.hasUnreadSections { add(.unreadablePackets, span, file.notes.first ?? "") }
        let unread =
            streams.network.unsupportedLinkType + streams.network.encryptedOnAir
            + streams.network.headersCutShort
        if unread > 0 { add(.unreadablePackets, span, networkNotes.joined(separator: "; ")) }
        return spots
    }
}

extension CaptureFacts {
    /// Counts a packet as the file gives it.
    mutating func count(_ packet: borrowing CapturedPacket) {
        packets += 1
        capturedBytes += packet.bytes.count
        wireBytes += packet.originalLength
        if packet.isTruncated { truncatedPackets += 1 }
        guard packet.hasTimestamp else { return }
        let time = packet.reference.time
        guard let known = span else {
            span = TimeSpan(time)
            return
        }
        if time < known.earliest { span?.earliest = time }
        if time > known.latest { span?.latest = time }
    }
}
