import SessionTrace

/// The blocks of one section: its interfaces and processes, and what refers to them. Blocks' bodies in, records out.
struct PcapngSection {
    private struct Interface {
        var index: Int
        var linkType: LinkType
        var snapLength: Int
        var resolution: TimestampResolution
    }

    private let isSwapped: Bool
    private var interfaces: [Interface] = []
    private var processes: [ProcessIdentity] = []

    init(swapped: Bool) {
        isSwapped = swapped
    }

    /// Reads the body of a block (between its head and its trailing length); nil when it holds nothing to hand out.
    mutating func record(
        type: UInt32, body: UnsafeRawBufferPointer, progress: inout CaptureProgress
    ) -> CaptureRecord? {
        switch type {
        case BlockType.enhancedPacket: return packet(body, isObsolete: false, progress: &progress)
        case BlockType.obsoletePacket: return packet(body, isObsolete: true, progress: &progress)
        case BlockType.simplePacket: return simplePacket(body, progress: &progress)
        case BlockType.interface: return interface(body, progress: &progress)
        case BlockType.statistics: return statistics(body, progress: &progress)
        case BlockType.secrets: return secrets(body, progress: &progress)
        case BlockType.names: return names(body, progress: &progress)
        case BlockType.darwinProcess:
            process(body, progress: &progress)
            return nil
        default:
            progress.skip(blockType: type)
            return opaque(type: type, body, progress: &progress)
        }
    }

    private func opaque(
        type: UInt32, _ body: UnsafeRawBufferPointer, progress: inout CaptureProgress
    ) -> CaptureRecord? {
        guard BlockType.isNumberedByTshark(type) else { return nil }
        progress.packets += 1
        let isCustom = type == BlockType.custom || type == BlockType.customNoCopy
        return .opaque(
            OpaqueBlock(
                reference: PacketReference(number: progress.packets, time: progress.lastTime), blockType: type,
                length: isCustom ? max(0, body.count - 4) : body.count))
    }

    /// Keeps the counts right for a block that was too long to be read.
    mutating func passed(type: UInt32, progress: inout CaptureProgress) {
        switch type {
        case BlockType.enhancedPacket, BlockType.obsoletePacket, BlockType.simplePacket: progress.packets += 1
        default: if BlockType.isNumberedByTshark(type) { progress.packets += 1 }
        }
    }

    /// Says so when the options of a block reached beyond it.
    func check(_ options: PcapngOptions, progress: inout CaptureProgress) {
        if options.isOverrun {
            progress.damage(
                at: progress.offset, "an option reaches beyond its block; it and those behind it were not read")
        }
    }

    // MARK: Packets

    /// Enhanced packet block (pcapng §4.3) and obsolete packet block (§ A): they differ in their first four bytes.
    private mutating func packet(
        _ body: UnsafeRawBufferPointer, isObsolete: Bool, progress: inout CaptureProgress
    ) -> CaptureRecord? {
        progress.packets += 1
        guard body.count >= 20 else {
            progress.damage(at: progress.offset, "packet \(progress.packets): its block is too short for its fields")
            return nil
        }
        let number: Int
        var droppedBefore: UInt64 = 0
        if isObsolete {
            number = Int(body.loadInteger(UInt16.self, at: 0, swapped: isSwapped))
            let drops = body.loadInteger(UInt16.self, at: 2, swapped: isSwapped)
            if drops != .max { droppedBefore = UInt64(drops) }
        } else {
            number = Int(body.loadInteger(UInt32.self, at: 0, swapped: isSwapped))
        }
        guard number < interfaces.count else {
            progress.damage(
                at: progress.offset,
                "packet \(progress.packets) names interface \(number) of \(interfaces.count) in its section and was not read"
            )
            return nil
        }
        let captured = Int(body.loadInteger(UInt32.self, at: 12, swapped: isSwapped))
        let original = Int(body.loadInteger(UInt32.self, at: 16, swapped: isSwapped))
        guard captured <= body.count - 20 else {
            progress.damage(
                at: progress.offset,
                "packet \(progress.packets) claims \(captured) captured bytes in a block that has room for \(body.count - 20), and was not read"
            )
            return nil
        }
        let high = UInt64(body.loadInteger(UInt32.self, at: 4, swapped: isSwapped))
        let low = UInt64(body.loadInteger(UInt32.self, at: 8, swapped: isSwapped))
        let time = interfaces[number].resolution.instant(units: high << 32 | low)
        progress.lastTime = time
        var packet = CapturedPacket(
            reference: PacketReference(number: progress.packets, time: time), linkType: interfaces[number].linkType,
            originalLength: max(original, captured),
            bytes: UnsafeRawBufferPointer(rebasing: body[20..<20 + captured]), interface: interfaces[number].index,
            droppedBefore: droppedBefore)
        let optionsStart = 20 + (captured + 3) & ~3
        if body.count - optionsStart >= 4 {
            readOptions(
                UnsafeRawBufferPointer(rebasing: body[optionsStart...]), of: &packet, progress: &progress)
        }
        return .packet(packet)
    }

    private func readOptions(
        _ bytes: UnsafeRawBufferPointer, of packet: inout CapturedPacket, progress: inout CaptureProgress
    ) {
        var options = PcapngOptions(bytes, swapped: isSwapped)
        var effective: ProcessIdentity?
        while let (code, value) = options.next() {
            switch code {
            case PcapngOptions.comment: packet.comments.append(PcapngOptions.text(value))
            case 4: packet.droppedBefore = options.integer(UInt64.self, value) ?? 0
            // Apple's: the index of a process event block of this section; the one acted for.
            case 0x8001: packet.process = process(options.integer(UInt32.self, value)) ?? packet.process
            case 0x8003: effective = process(options.integer(UInt32.self, value))
            default: break
            }
        }
        if let effective {
            if packet.process == nil { packet.process = effective }
            if effective.name != packet.process?.name { packet.process?.effectiveName = effective.name }
        }
        check(options, progress: &progress)
    }

    private func process(_ index: UInt32?) -> ProcessIdentity? {
        guard let index, index < UInt32(clamping: processes.count) else { return nil }
        return processes[Int(index)]
    }

    /// Simple packet block (pcapng §4.4): interface 0, no time, the captured length follows from the snapshot length.
    private mutating func simplePacket(
        _ body: UnsafeRawBufferPointer, progress: inout CaptureProgress
    ) -> CaptureRecord? {
        progress.packets += 1
        guard body.count >= 4, let interface = interfaces.first else {
            progress.damage(
                at: progress.offset,
                "packet \(progress.packets): a simple packet block without an interface or a length")
            return nil
        }
        let original = Int(body.loadInteger(UInt32.self, at: 0, swapped: isSwapped))
        let captured = interface.snapLength == 0 ? original : min(original, interface.snapLength)
        guard captured <= body.count - 4 else {
            progress.damage(
                at: progress.offset,
                "packet \(progress.packets) claims \(captured) captured bytes in a block that has room for \(body.count - 4), and was not read"
            )
            return nil
        }
        return .packet(
            CapturedPacket(
                reference: PacketReference(number: progress.packets, time: progress.lastTime), hasTimestamp: false,
                linkType: interface.linkType, originalLength: original,
                bytes: UnsafeRawBufferPointer(rebasing: body[4..<4 + captured]), interface: interface.index))
    }

    // MARK: What packets refer to

    /// Interface description block, pcapng §4.2.
    private mutating func interface(
        _ body: UnsafeRawBufferPointer, progress: inout CaptureProgress
    ) -> CaptureRecord? {
        guard body.count >= 8 else {
            progress.damage(at: progress.offset, "an interface block too short for its fields")
            return nil
        }
        guard progress.interfaces < progress.limits.interfaces else {
            progress.damage(
                at: progress.offset,
                "more than \(progress.limits.interfaces) interfaces; the packets of this one are lost")
            return nil
        }
        var interface = CaptureInterface(
            index: progress.interfaces,
            linkType: LinkType(rawValue: UInt32(body.loadInteger(UInt16.self, at: 0, swapped: isSwapped))),
            snapLength: Int(body.loadInteger(UInt32.self, at: 4, swapped: isSwapped)))
        var options = PcapngOptions(UnsafeRawBufferPointer(rebasing: body[8...]), swapped: isSwapped)
        var resolution: UInt8 = 6
        var offsetSeconds: Int64 = 0
        while let (code, value) = options.next() {
            switch code {
            case PcapngOptions.comment: interface.comments.append(PcapngOptions.text(value))
            case 2: interface.name = PcapngOptions.text(value)
            case 3: interface.description = PcapngOptions.text(value)
            case 9: resolution = value.first ?? resolution
            // The first byte says what kind of filter it is; only kind 0 is text.
            case 11: if value.first == 0 { interface.filter = PcapngOptions.text(.init(rebasing: value.dropFirst())) }
            case 13: interface.frameCheckSequenceLength = value.first.map(Int.init)
            case 14: offsetSeconds = options.integer(Int64.self, value) ?? 0
            default: break
            }
        }
        check(options, progress: &progress)
        interface.resolution = TimestampResolution(option: resolution, offsetSeconds: offsetSeconds)
        interfaces.append(
            Interface(
                index: interface.index, linkType: interface.linkType, snapLength: interface.snapLength,
                resolution: interface.resolution))
        progress.interfaces += 1
        return .interface(interface)
    }

    /// Apple's process event block: a process id, then options (2 is its name). Packets refer to it by its index.
    private mutating func process(_ body: UnsafeRawBufferPointer, progress: inout CaptureProgress) {
        guard body.count >= 4, processes.count < progress.limits.processes else {
            progress.damage(
                at: progress.offset,
                body.count < 4
                    ? "a process block too short for its fields"
                    : "more than \(progress.limits.processes) processes; this one is not known to its packets")
            return
        }
        var identity = ProcessIdentity(
            source: .pktap, name: "", processID: body.loadInteger(Int32.self, at: 0, swapped: isSwapped))
        var options = PcapngOptions(UnsafeRawBufferPointer(rebasing: body[4...]), swapped: isSwapped)
        while let (code, value) = options.next() {
            if code == 2 { identity.name = PcapngOptions.text(value) }
        }
        check(options, progress: &progress)
        processes.append(identity)
    }

    // MARK: What stands beside packets

    /// Interface statistics block, pcapng §4.6.
    private func statistics(_ body: UnsafeRawBufferPointer, progress: inout CaptureProgress) -> CaptureRecord? {
        guard body.count >= 12 else {
            progress.damage(at: progress.offset, "a statistics block too short for its fields")
            return nil
        }
        let number = Int(body.loadInteger(UInt32.self, at: 0, swapped: isSwapped))
        guard number < interfaces.count else {
            progress.damage(
                at: progress.offset,
                "statistics of interface \(number) of \(interfaces.count) in their section were not read")
            return nil
        }
        let interface = interfaces[number]
        var statistics = InterfaceStatistics(
            interface: interface.index, time: instant(body, at: 4, interface.resolution))
        var options = PcapngOptions(UnsafeRawBufferPointer(rebasing: body[12...]), swapped: isSwapped)
        while let (code, value) = options.next() {
            switch code {
            case PcapngOptions.comment: statistics.comments.append(PcapngOptions.text(value))
            case 2 where value.count == 8: statistics.started = instant(value, at: 0, interface.resolution)
            case 3 where value.count == 8: statistics.ended = instant(value, at: 0, interface.resolution)
            case 4: statistics.received = count(options, value)
            case 5: statistics.droppedByInterface = count(options, value)
            case 6: statistics.accepted = count(options, value)
            case 7: statistics.droppedBySystem = count(options, value)
            default: break
            }
        }
        check(options, progress: &progress)
        return .statistics(statistics)
    }

    /// All ones is how some writers say that they do not know.
    private func count(_ options: PcapngOptions, _ value: UnsafeRawBufferPointer) -> UInt64? {
        options.integer(UInt64.self, value).flatMap { $0 == .max ? nil : $0 }
    }

    private func instant(_ bytes: UnsafeRawBufferPointer, at offset: Int, _ resolution: TimestampResolution) -> Instant
    {
        let high = UInt64(bytes.loadInteger(UInt32.self, at: offset, swapped: isSwapped))
        let low = UInt64(bytes.loadInteger(UInt32.self, at: offset + 4, swapped: isSwapped))
        return resolution.instant(units: high << 32 | low)
    }

    /// Decryption secrets block, pcapng §4.7.
    private func secrets(_ body: UnsafeRawBufferPointer, progress: inout CaptureProgress) -> CaptureRecord? {
        guard body.count >= 8 else {
            progress.damage(at: progress.offset, "a secrets block too short for its fields")
            return nil
        }
        let kind = DecryptionSecrets.Kind(rawValue: body.loadInteger(UInt32.self, at: 0, swapped: isSwapped))
        let length = Int(body.loadInteger(UInt32.self, at: 4, swapped: isSwapped))
        guard length <= body.count - 8 else {
            progress.damage(
                at: progress.offset, "secrets claim \(length) bytes in a block that has room for \(body.count - 8)")
            return nil
        }
        var secrets = DecryptionSecrets(kind: kind, bytes: Array(body[8..<8 + length]))
        let optionsStart = min(8 + (length + 3) & ~3, body.count)
        secrets.comments = comments(UnsafeRawBufferPointer(rebasing: body[optionsStart...]), progress: &progress)
        return .secrets(secrets)
    }

    /// Name resolution block, pcapng §4.5: records like options, ended by type 0, then options.
    private func names(_ body: UnsafeRawBufferPointer, progress: inout CaptureProgress) -> CaptureRecord? {
        var resolution = NameResolution(entries: [])
        var index = 0
        while body.count - index >= 4 {
            let type = body.loadInteger(UInt16.self, at: index, swapped: isSwapped)
            let length = Int(body.loadInteger(UInt16.self, at: index + 2, swapped: isSwapped))
            index += 4
            if type == 0 { break }
            guard length <= body.count - index else {
                progress.damage(
                    at: progress.offset, "a name reaches beyond its block; it and those behind it were not read")
                return .names(resolution)
            }
            let value = UnsafeRawBufferPointer(rebasing: body[index..<index + length])
            if let entry = entry(type: type, value) { resolution.entries.append(entry) }
            index += (length + 3) & ~3
        }
        resolution.comments = comments(
            UnsafeRawBufferPointer(rebasing: body[min(index, body.count)...]), progress: &progress)
        return .names(resolution)
    }

    private func entry(type: UInt16, _ value: UnsafeRawBufferPointer) -> NameResolution.Entry? {
        let address: IPAddress
        let addressLength: Int
        // Addresses are in network byte order whatever the section's is.
        let isSwapped = 1 == 1.littleEndian
        switch type {
        case 1 where value.count >= 4:
            address = IPAddress(ipv4: value.loadInteger(UInt32.self, at: 0, swapped: isSwapped))
            addressLength = 4
        case 2 where value.count >= 16:
            address = IPAddress(
                ipv6High: value.loadInteger(UInt64.self, at: 0, swapped: isSwapped),
                low: value.loadInteger(UInt64.self, at: 8, swapped: isSwapped))
            addressLength = 16
        default: return nil
        }
        let names = value.dropFirst(addressLength).split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
        return NameResolution.Entry(address: address, names: names)
    }

    private func comments(_ bytes: UnsafeRawBufferPointer, progress: inout CaptureProgress) -> [String] {
        var options = PcapngOptions(bytes, swapped: isSwapped)
        var comments: [String] = []
        while let (code, value) = options.next() {
            if code == PcapngOptions.comment { comments.append(PcapngOptions.text(value)) }
        }
        check(options, progress: &progress)
        return comments
    }
}
