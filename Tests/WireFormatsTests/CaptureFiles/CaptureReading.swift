import SessionTrace
import WireFormats

/// A capture's records as plain values, so that two readings can be compared.
struct CaptureReading: Equatable {
    enum Record: Equatable {
        case packet(Packet)
        case section(CaptureSection)
        case interface(CaptureInterface)
        case statistics(InterfaceStatistics)
        case secrets(DecryptionSecrets)
        case names(NameResolution)
        case opaque(OpaqueBlock)
    }

    struct Packet: Equatable {
        var number: Int
        var time: Instant
        var hasTimestamp: Bool
        var linkType: LinkType
        var originalLength: Int
        var bytes: [UInt8]
        var interface: Int
        var droppedBefore: UInt64
        var comments: [String]
        var process: ProcessIdentity?

        init(_ packet: CapturedPacket) {
            number = packet.reference.number
            time = packet.reference.time
            hasTimestamp = packet.hasTimestamp
            linkType = packet.linkType
            originalLength = packet.originalLength
            bytes = Array(packet.bytes)
            interface = packet.interface
            droppedBefore = packet.droppedBefore
            comments = packet.comments
            process = packet.process
        }
    }

    var records: [Record] = []
    var notes: [String] = []
    var isCutShort = false
    var isDamaged = false
    var hasUnreadSections = false

    var packets: [Packet] {
        records.compactMap { if case .packet(let packet) = $0 { packet } else { nil } }
    }

    var isComplete: Bool { !isCutShort && !isDamaged && !hasUnreadSections }

    /// Parses `bytes`, of which each look shows `chunk()` more at most.
    init(
        _ bytes: some Collection<UInt8>, limits: CaptureLimits = CaptureLimits(), chunk: () -> Int = { Int.max }
    ) throws(CaptureFormatError) {
        var parser = CaptureParser(limits: limits)
        // A copy of exactly the size, so that a sanitizer sees any read beyond it.
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 16)
        defer { memory.deallocate() }
        memory.copyBytes(from: bytes)
        var start = 0
        var end = min(bytes.count, max(1, chunk()))
        while true {
            let window = UnsafeRawBufferPointer(rebasing: memory[start..<end])
            switch try parser.step(window, isFinal: end == bytes.count) {
            case .record(let record, let length):
                records.append(Self.copy(record))
                start += length
            case .passed(let length):
                start += length
            case .needsMore:
                let step = max(1, chunk())
                end = step > bytes.count - end ? bytes.count : end + step
            case .end:
                notes = parser.notes.map(\.description)
                isCutShort = parser.isCutShort
                isDamaged = parser.isDamaged
                hasUnreadSections = parser.hasUnreadSections
                return
            }
        }
    }

    private static func copy(_ record: CaptureRecord) -> Record {
        switch record {
        case .packet(let packet): .packet(Packet(packet))
        case .section(let section): .section(section)
        case .interface(let interface): .interface(interface)
        case .statistics(let statistics): .statistics(statistics)
        case .secrets(let secrets): .secrets(secrets)
        case .names(let names): .names(names)
        case .opaque(let block): .opaque(block)
        }
    }
}

/// Small numbers that look random and are the same in every run.
struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }
}
