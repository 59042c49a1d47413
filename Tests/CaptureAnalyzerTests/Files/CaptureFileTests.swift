import CaptureAnalyzer
import Foundation
import SessionTrace
import Testing
import WireFormats

/// Opening, unpacking, filtering, and what the summary says.
@Suite struct CaptureFileTests {
    private static let time = Instant(nanoseconds: 1_764_417_600_000_000_000)

    /// A pcapng file of 20 frames: TCP port 443 and 80 in turn, then statistics.
    private static func sample() -> [UInt8] {
        var writer = TraceWriter(version: "9", started: time)
        let client = Endpoint(address: IPAddress(ipv4: 0xC000_020A), port: 50_000)
        for number in 0..<4 {
            let server = Endpoint(address: IPAddress(ipv4: 0xC000_0201), port: number % 2 == 0 ? 443 : 80)
            writer.open(ConnectionID(number), client: client, server: server, at: time)
            writer.send([UInt8](repeating: 7, count: 500), from: .client, on: ConnectionID(number), at: time)
            writer.reset(.client, on: ConnectionID(number), at: time)
        }
        writer.end(at: time, dropped: 3)
        return writer.takeBytes()
    }

    /// Runs `body` with the path of a file that holds `bytes`.
    private func withFile<Value>(
        _ bytes: [UInt8], named name: String = "capture", _ body: (String) throws -> Value
    ) throws -> Value {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent(name)
        try Data(bytes).write(to: file)
        return try body(file.path)
    }

    /// Reads a file to its end.
    private func read(
        _ path: String, filter: String? = nil, limits: CaptureLimits = CaptureLimits()
    ) throws -> (numbers: [Int], bytes: Int, summary: CaptureFileSummary) {
        var file = try CaptureFile(path: path, filter: filter, limits: limits)
        var numbers: [Int] = []
        var bytes = 0
        while let record = try file.next() {
            guard case .packet(let packet) = record else { continue }
            numbers.append(packet.reference.number)
            bytes += packet.bytes.count
        }
        return (numbers, bytes, file.summary)
    }

    /// Packs bytes with a program of the system; ends the test, and says so, when it is not there.
    private func packed(_ bytes: [UInt8], by program: String) throws -> [UInt8] {
        let path = "/usr/bin/\(program)"
        guard FileManager.default.isExecutableFile(atPath: path) else { try Test.cancel("no \(program) here") }
        return try withFile(bytes) { file in
            let process = Process()
            process.executableURL = URL(fileURLWithPath: path)
            process.arguments = ["-c", file]
            let output = Pipe()
            process.standardOutput = output
            try process.run()
            let data = output.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
            return Array(data)
        }
    }

    @Test("summary of a recording of our own")
    func summary() throws {
        try withFile(Self.sample()) { path in
            let (numbers, _, summary) = try read(path)
            #expect(numbers == Array(1...20))
            #expect(summary.isComplete && summary.isOwnRecording && summary.hasStatistics)
            #expect(summary.userApplication == "handoff/9")
            #expect(summary.droppedPackets == 3)
            #expect(summary.interfaceNames == ["handoff-proxy"])
            #expect(summary.packets == 20 && summary.compression == .none && summary.notes == [])
        }
    }

    /// Zeros pad. Behind anything else there may be more of the capture: what was left out makes no whole file.
    @Test(arguments: ["gzip", "zstd"]) func whatFollowsThePackedDataIsNotLeftOutInSilence(program: String) throws {
        let packed = try packed(Self.sample(), by: program)
        let padded = try withFile(packed + [UInt8](repeating: 0, count: 200_000)) { try read($0) }.summary
        #expect(padded.packets == 20 && padded.isComplete, "\(padded.notes)")
        #expect(padded.notes.contains { $0.contains("zeros behind the packed data") })
        for junk in [[0, 0] + packed, [0x4A], [UInt8](repeating: 0, count: 200_000) + [1]] {
            let summary = try withFile(packed + junk) { try read($0) }.summary
            #expect(summary.packets == 20 && summary.isCutShort, "\(summary.notes)")
            #expect(summary.notes.contains { $0.contains("followed by bytes that are none") })
        }
    }

    @Test("packed files are told by their bytes, not their names", arguments: ["gzip", "zstd"])
    func packing(program: String) throws {
        let packed = try packed(Self.sample(), by: program)
        let summary = try withFile(packed, named: "x.pcapng") { try read($0) }.summary
        #expect(summary.packets == 20 && summary.isComplete, "\(summary.notes)")
        #expect(summary.compression.rawValue == program)
        // Two files packed one by one and put together are one packed file; two captures in a row are two sections.
        let double = try withFile(packed + packed) { try read($0) }
        #expect(double.numbers == Array(1...40) && double.summary.isComplete)
        // Cut anywhere: what can be unpacked is used, and never is the file called whole.
        for count in stride(from: 8, to: packed.count, by: max(1, packed.count / 60)) {
            try withFile(Array(packed.prefix(count))) { path in
                do throws(CaptureFileError) {
                    var file = try CaptureFile(path: path)
                    var packets = 0
                    while let record = try file.next() { if case .packet = record { packets += 1 } }
                    #expect(packets <= 20 && file.summary.isCutShort, "cut at \(count)")
                } catch {
                    #expect(error.code == .notACapture)
                }
            }
        }
        // A damaged byte in the middle.
        var damaged = packed
        damaged[packed.count / 2] ^= 0x55
        let after = try? withFile(damaged) { try read($0) }
        #expect(after.map { !$0.summary.isComplete } ?? true)
    }

    @Test("a BPF filter keeps the file's numbers")
    func filter() throws {
        try withFile(Self.sample()) { path in
            let (numbers, _, summary) = try read(path, filter: "tcp port 443")
            #expect(numbers == Array(1...5) + Array(11...15))
            #expect(summary.packets == 20 && summary.filteredOut == 10)
            #expect(try read(path, filter: "udp").numbers == [])
            #expect(try read(path, filter: "").numbers.count == 20)
        }
    }

    @Test("filters that are wrong, or that no packet of the file can have")
    func wrongFilter() throws {
        try withFile(Self.sample()) { path in
            let syntax = #expect(throws: CaptureFileError.self) { try read(path, filter: "tcp prot 443") }
            #expect(syntax?.code == .filter)
            #expect(syntax?.description.hasPrefix("filter 'tcp prot 443': ") == true, "\(String(describing: syntax))")
        }
        var writer = PcapngWriter()
        writer.section()
        writer.interface(linkType: .raw)
        writer.packet([0x45], at: Self.time)
        try withFile(writer.takeBytes()) { path in
            let unfit = #expect(throws: CaptureFileError.self) {
                try read(path, filter: "ether host 02:00:00:00:00:01")
            }
            #expect(unfit?.description.contains("link type RAW") == true, "\(String(describing: unfit))")
            let six = try read(path, filter: "ip6")
            #expect(six.summary.filteredOut == 1)
        }
    }

    @Test("what is no capture says what it starts with and what to give")
    func foreign() throws {
        try withFile(Array("<html>hello".utf8)) { path in
            let error = #expect(throws: CaptureFileError.self) { try read(path) }
            #expect(
                error?.description
                    == "\(path): is not a capture file (starts with 3c 68 74 6d 6c 3e 68 65 (<html>he)); give a pcap or pcapng file"
            )
        }
        try withFile([]) { path in
            let error = #expect(throws: CaptureFileError.self) { try read(path) }
            #expect(error?.description == "\(path): is not a capture file (is empty); give a pcap or pcapng file")
        }
        let absent = #expect(throws: CaptureFileError.self) { try read("/nowhere/at/all") }
        #expect(absent?.description == "/nowhere/at/all: No such file or directory")
        let folder = #expect(throws: CaptureFileError.self) { try read("/") }
        #expect(folder?.description == "/: Is a directory")
        // The last, since without gzip the test ends here.
        try withFile(try packed(Array("hello".utf8), by: "gzip")) { path in
            let error = #expect(throws: CaptureFileError.self) { try read(path) }
            #expect(
                error?.reason.hasPrefix("is not a capture file (inside, starts with 68 65 6c 6c 6f (hello))") == true)
        }
    }

    @Test("a packet larger than the buffer, and one larger than the limit")
    func largePackets() throws {
        var writer = PcapngWriter()
        writer.section()
        writer.interface(linkType: .ethernet)
        for size in [100, 3 << 20, 100, 5 << 20, 100] {
            writer.packet([UInt8](repeating: 1, count: size), at: Self.time)
        }
        try withFile(writer.takeBytes()) { path in
            let whole = try read(path)
            #expect(whole.numbers == [1, 2, 3, 4, 5] && whole.bytes == 8 << 20 + 300)
            var limits = CaptureLimits()
            limits.block = 4 << 20
            let limited = try read(path, limits: limits)
            #expect(limited.numbers == [1, 2, 3, 5] && limited.summary.isDamaged)
        }
    }

    private func dropped(_ bytes: [UInt8]) throws -> UInt64? {
        try withFile(bytes) { try read($0) }.summary.droppedPackets
    }

    @Test("drops told by packets, by two interfaces, and by nobody")
    func drops() throws {
        var writer = PcapngWriter()
        writer.section()
        writer.interface(linkType: .ethernet, name: "a")
        writer.interface(linkType: .ethernet, name: "b")
        writer.packet([1], at: Self.time, droppedBefore: 2)
        let early = writer.takeBytes()
        for (interface, count) in [(0, 1), (0, 4), (1, 5)] as [(Int, UInt64)] {
            writer.statistics(InterfaceStatistics(interface: interface, time: Self.time, droppedByInterface: count))
        }
        let late = writer.takeBytes()
        #expect(try dropped(early) == 2)
        #expect(try dropped(early + late) == 9)
        #expect(try dropped(Array(early.prefix(100))) == nil)
    }
}
