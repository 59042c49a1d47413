public import WireFormats

/// A capture file being read: pcap or pcapng, plain, gzip or zstd, from a path or standard input.
///
/// Memory stays flat: one buffer, reused, grown only for a packet larger than it (`CaptureLimits.block` is the most).
/// Damage never throws: everything whole is handed out, then nil; `summary` says what was wrong and where.
public struct CaptureFile: ~Copyable {
    /// Most interface names kept for the summary.
    public static let interfaceNameLimit = 256
    private static let bufferLength = 512 << 10

    private let path: String
    private var input: CaptureInput
    private var buffer = PacketBuffer(capacity: CaptureFile.bufferLength)
    private var parser: CaptureParser
    private var filter: PacketFilter?
    private var inputHasEnded = false
    private var facts = CaptureFileSummary()
    /// The latest drop count that each interface's statistics gave, and the sum of what packets themselves said.
    private var drops: [Int: UInt64] = [:]
    private var dropsBetweenPackets: UInt64 = 0

    /// Opens a file and looks at its packing.
    ///
    /// - Parameters:
    ///   - path: a file, or `-` for standard input.
    ///   - filter: a BPF expression (pcap-filter(7)); packets that it refuses are counted, not handed out. Packets that
    ///     carry a mark are handed out always: a filter narrows traffic, not what the test says of itself.
    ///   - growth: for a file that is still being written, its writer's word: `next()` then waits for more.
    public init(
        path: String, filter: String? = nil, limits: CaptureLimits = CaptureLimits(), growth: TraceGrowth? = nil
    ) throws(CaptureFileError) {
        self.path = path
        parser = CaptureParser(limits: limits)
        do throws(PacketFilterError) {
            if let filter { self.filter = try PacketFilter(filter) } else { self.filter = nil }
        } catch {
            throw CaptureFileError(code: .filter, path: path, reason: error.reason)
        }
        do throws(SystemError) {
            input = try CaptureInput(path: path, growth: growth)
        } catch {
            throw CaptureFileError(code: .system(error.number), path: path, reason: error.words)
        }
        facts.compression = input.compression
    }

    /// The next record of the file; nil at its end. A packet's bytes are valid until the next call.
    ///
    /// - Throws: when the file is no capture, or the filter does not fit a link type in it.
    public mutating func next() throws(CaptureFileError) -> CaptureRecord? {
        while true {
            switch try step() {
            case .record(let record, let length):
                buffer.advance(by: length)
                if try keeps(record) { return record }
            case .passed(let length):
                buffer.advance(by: length)
            case .needsMore(let count):
                let read = input.read(into: buffer.makeRoom(forWindowOf: count))
                buffer.wrote(read)
                inputHasEnded = read == 0
            case .end:
                return nil
            }
        }
    }

    private mutating func step() throws(CaptureFileError) -> CaptureParser.Step {
        do throws(CaptureFormatError) {
            return try parser.step(buffer.window, isFinal: inputHasEnded)
        } catch {
            let inside = input.compression == .none ? "" : "inside, "
            let why = input.trouble.map { "; \($0)" } ?? ""
            throw CaptureFileError(
                code: .notACapture, path: path,
                reason: "is not a capture file (\(inside)\(error.description)\(why)); give a pcap or pcapng file")
        }
    }

    /// Notes what the summary needs; false for a packet that the filter refuses.
    private mutating func keeps(_ record: borrowing CaptureRecord) throws(CaptureFileError) -> Bool {
        switch record {
        case .packet(let packet):
            dropsBetweenPackets &+= packet.droppedBefore
            do throws(PacketFilterError) {
                guard try filter?.accepts(packet) ?? true || TraceText.isMark(packet) else {
                    facts.filteredOut += 1
                    return false
                }
            } catch {
                throw CaptureFileError(code: .filter, path: path, reason: error.reason)
            }
        case .section(let section):
            if section.index == 0 { facts.userApplication = section.userApplication }
        case .interface(let interface):
            // A file has few interfaces; what is beyond the names kept is of no recording of ours.
            if facts.interfacesWithoutStatistics.count < Self.interfaceNameLimit {
                facts.interfacesWithoutStatistics.insert(interface.index)
            }
            if let name = interface.name, facts.interfaceNames.count < Self.interfaceNameLimit,
                !facts.interfaceNames.contains(name)
            {
                facts.interfaceNames.append(name)
            }
        case .statistics(let statistics):
            facts.hasStatistics = true
            facts.interfacesWithoutStatistics.remove(statistics.interface)
            facts.ended = [facts.ended, statistics.ended].compactMap(\.self).max()
            if statistics.droppedByInterface != nil || statistics.droppedBySystem != nil {
                drops[statistics.interface] =
                    (statistics.droppedByInterface ?? 0) &+ (statistics.droppedBySystem ?? 0)
            }
        case .secrets, .names, .opaque:
            break
        }
        return true
    }

    /// What is known about the file; complete once `next()` has returned nil.
    public var summary: CaptureFileSummary {
        var summary = facts
        summary.packets = parser.packets
        summary.isCutShort = parser.isCutShort || input.trouble != nil
        summary.isDamaged = parser.isDamaged
        summary.hasUnreadSections = parser.hasUnreadSections
        let told = drops.values.reduce(0, &+)
        if !drops.isEmpty || dropsBetweenPackets > 0 { summary.droppedPackets = max(told, dropsBetweenPackets) }
        summary.notes = parser.notes.map(\.description)
        if let trouble = input.trouble { summary.notes.append("byte \(parser.offset): \(trouble)") }
        if input.hasTrailingBytes {
            summary.notes.append("byte \(parser.offset): zeros behind the packed data were not read")
        }
        return summary
    }
}
