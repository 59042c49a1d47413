internal import SessionTrace
internal import WireFormats

/// Marks and the proxy's own words, which travel beside the traffic (DESIGN "Marks").
extension SessionState {
    /// A datagram captured twice (on two interfaces, at a mirror port) comes again within this time, in nanoseconds
    /// (RULES 0.4). No finger taps twice as fast.
    static let captureRepeatNanoseconds: Int64 = 5_000_000

    /// Takes a datagram that is a mark; false for any other.
    mutating func takeMark(
        _ datagram: UnsafeRawBufferPointer, at packet: PacketReference, on conversation: ConnectionID
    ) -> Bool {
        guard let reading = TraceText.read(datagram: datagram, at: packet) else { return false }
        proxy.isNoBypass(conversation)
        if case .mark(let read) = reading, read.mark.id == nil {
            let before = latestMark
            latestMark = (read.content, conversation, packet.time)
            if let before, before.content == read.content, before.conversation == conversation,
                packet.time.nanoseconds(since: before.time) <= Self.captureRepeatNanoseconds
            {
                return true
            }
        }
        take(reading, at: packet, on: nil)
        return true
    }

    /// Takes a mark that a device made in band.
    mutating func takeMark(inBand exchange: Exchange) {
        guard let packet = exchange.request?.started, let object = InBandMark.object(of: exchange) else { return }
        do throws(MarkError) {
            var read = try MarkReader.read(object, source: .datagram, packet: packet)
            read.mark.source = .control
            take(.mark(read), at: packet, on: nil)
        } catch {
            take(.unreadable("a mark in band can't be read: \(error.reason)"), at: packet, on: nil)
        }
    }

    /// Takes a packet comment, if it is one of ours; `owner` is the connection of the packet.
    mutating func take(comment: String, at packet: PacketReference, on owner: ConnectionID?) {
        guard let reading = TraceText.read(comment: comment, on: packet) else { return }
        take(reading, at: packet, on: owner)
    }

    /// Takes the marks of a side file.
    mutating func take(_ file: MarkFile) {
        for var reading in file.marks {
            // The file says of its warnings where they stand.
            reading.warnings = []
            take(.mark(reading), at: nil, on: nil)
        }
        note(file.warnings)
    }

    private mutating func take(_ reading: TraceTextReading, at packet: PacketReference?, on owner: ConnectionID?) {
        let place = packet.map { "packet \($0.number): " } ?? ""
        switch reading {
        case .mark(let read):
            guard !repeats.isRepeat(read) else { return }
            note(read.warnings.map { place + $0 })
            emit(.mark(read.mark))
        case .event(var event):
            event.connection = owner
            emit(.proxyEvent(event))
            if let spot = proxy.blindSpot(of: event) { emit(.blindSpot(spot)) }
        case .unreadable(let why):
            note([place + why])
            if unreadableMarks.count < Self.noteLimit { unreadableMarks.append(place + why) }
        }
    }

    private mutating func note(_ lines: [String]) {
        notes += lines.prefix(max(0, Self.noteLimit - notes.count))
    }
}
