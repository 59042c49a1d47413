import Foundation

@testable import CaptureAnalyzer
@testable import SessionTrace
@testable import WireFormats

/// Makes each target's first inputs from capture files: the files, their frames, and the streams inside them.
struct Seeds {
    let folder: String
    /// Longest seed: libFuzzer mutates short inputs better.
    private static let limit = 64 << 10

    /// Lines of logs that marks are imported from, in the order of `MarkImport.Format`.
    private static let logs = [
        """
        [   10.000001] /dev/input/event2: EV_ABS       ABS_MT_SLOT          00000000
        1764479431.5 [   10.000001] /dev/input/event2: EV_ABS       ABS_MT_TRACKING_ID   00000001
        [   10.000001] /dev/input/event2: EV_KEY       BTN_TOUCH            DOWN
        [   10.000001] /dev/input/event2: EV_SYN       SYN_REPORT           00000000
        [   10.200001] /dev/input/event2: 0003 0039 ffffffff
        [   10.200001] /dev/input/event2: EV_SYN       SYN_REPORT           00000000
        """,
        """
        11-30 05:10:31.123 +0100  1234  1240 I a: handoff-mark {"kind":"tap","target":"share"}
        1764479431.1  1  2 I ActivityTaskManager: START u0 {act=android.intent.action.VIEW dat=https://a cmp=b/c} code=0
        """,
        "Nov 30 05:10:31 x a[1] <Notice>: handoff-mark/1 {\"kind\":\"end\",\"at\":\"2026-11-30T05:10:30Z\"}",
        """
        05:10:31.123 [ INFO] a.b.c: Tap on "Share selection and continue" RUNNING
        05:10:32.123 [ INFO] a.b.c: Tap on "Share selection and continue" COMPLETED
        """,
        """
        2026-11-30 05:10:31:290 [HTTP] --> POST /session/12345678/element
        2026-11-30 05:10:31:290 [HTTP] {"using":"id","value":"x"}
        2026-11-30 05:10:31:295 [D (12345678)] Responding to client with driver.findElement() result: {"ELEMENT":"1"}
        2026-11-30 05:10:31:297 [HTTP] <-- POST /session/12345678/element 200 15 ms - 137
        2026-11-30 05:10:31:304 [HTTP] --> POST /session/12345678/element/1/click
        2026-11-30 05:10:31:801 [HTTP] <-- POST /session/12345678/element/1/click 200 497 ms - 14
        """,
        """
        Test Suite 'A' started at 2026-11-30 05:10:27.400
        Test Case '-[A b]' started.
            t =     1.00s Tap "Share selection and continue" Button
            t =     1.10s     Synthesize event
            t =     1.20s Tear Down
        Test Case '-[A b]' passed (2.123 seconds).
        Test Suite 'A' passed at 2026-11-30 05:10:30.000.
        """,
        "1764479431.000 1764479431.010 1764479431.020\n2026-11-30T05:10:31.5Z 12.5 2026-11-30T05:10:32Z\n",
    ]

    func write(from paths: some Sequence<String>) {
        for (index, log) in Self.logs.enumerated() {
            save([UInt8(index)] + Array(log.utf8), "mark-import", "log-\(index)")
        }
        for path in paths {
            guard let data = FileManager.default.contents(atPath: path) else { continue }
            let name = (path as NSString).lastPathComponent
            if name.hasSuffix(".yml") { save([UInt8](data), "policy", name) }
            if data.count <= Self.limit { save([UInt8](data), "capture-file", name) }
            if data.count <= 4 * Self.limit { save([UInt8](data), "pipeline", name) }
            data.withUnsafeBytes { harvest($0, name) }
        }
    }

    private func harvest(_ bytes: UnsafeRawBufferPointer, _ name: String) {
        var streams = PacketStreams()
        var sink = Harvest()
        var keys: [UInt8] = []
        var frames: [UInt8] = []
        _ = readCapture(bytes) { record in
            switch record {
            case .packet(let packet):
                let kind = packet.linkType.rawValue
                if frames.isEmpty { frames = [UInt8(kind & 0xFF), UInt8(kind >> 8 & 0xFF)] }
                if frames.count < 16 << 10, packet.bytes.count < 0x7FFF {
                    frames += [UInt8(packet.bytes.count & 0xFF), UInt8(packet.bytes.count >> 8)]
                    frames += packet.bytes
                }
                streams.receive(packet, into: &sink)
                for comment in packet.comments {
                    save(Array(comment.utf8), "marks", "\(name)-\(packet.reference.number)")
                }
            case .secrets(let secrets): keys += secrets.bytes
            case .section, .interface, .statistics, .names, .opaque: break
            }
        }
        streams.finish(into: &sink)
        if !frames.isEmpty { save(frames, "packets", name) }
        keys = Array(keys.prefix(0xFFFF))
        for (index, stream) in sink.scripts.values.enumerated() where stream.count <= Self.limit {
            let seed = "\(name)-\(index)"
            guard stream.count > 3 else { continue }
            let first = Array(stream.dropFirst(3).prefix(8))
            if first.first == 0x16 {
                save([UInt8(keys.count & 0xFF), UInt8(keys.count >> 8), 0] + keys + stream, "tls", seed)
            } else if sink.datagrams.contains(index) {
                continue
            } else {
                let isHTTP2 = first.starts(with: Array("PRI * HT".utf8))
                save([isHTTP2 ? 1 : 0] + stream, isHTTP2 ? "http2" : "conversation", seed)
                if isHTTP2 { save([1] + stream, "conversation", seed) }
            }
        }
        for (index, datagram) in sink.firstDatagrams.enumerated() {
            let seed = "\(name)-d\(index)"
            let isQUIC = datagram.withUnsafeBytes { QUICConnectionObserver.recognises($0) }
            if isQUIC {
                save(StreamScript.encode(datagram, from: .client), "quic", seed)
            } else if datagram.starts(with: Array("handoff-".utf8)) {
                save(datagram, "marks", seed)
                if let brace = datagram.firstIndex(of: 0x7B) { save(Array(datagram[brace...]), "json", seed) }
                if let brace = datagram.firstIndex(of: 0x7B) { save(Array(datagram[brace...]), "marks", seed + "j") }
            } else {
                save(datagram, "dns", seed)
            }
        }
    }

    private func save(_ bytes: [UInt8], _ target: String, _ name: String) {
        let place = "\(folder)/\(target)"
        try? FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        _ = FileManager.default.createFile(atPath: "\(place)/\(name)", contents: Data(bytes))
    }
}

/// Collects the bytes of each connection as a script, and the first datagrams.
private struct Harvest: StreamSink {
    var scripts: [ConnectionID: [UInt8]] = [:]
    var datagrams: Set<Int> = []
    var firstDatagrams: [[UInt8]] = []
    private var count = 0

    mutating func nextConnectionID() -> ConnectionID {
        count += 1
        return ConnectionID(count)
    }

    mutating func opened(_ connection: Connection) {}

    mutating func received(
        _ bytes: UnsafeRawBufferPointer, from side: Side, endOffset: UInt64, at: PacketReference, on id: ConnectionID
    ) {
        scripts[id, default: []] += StreamScript.encode(bytes, from: side)
    }

    mutating func hole(
        length: Int?, from side: Side, endOffset: UInt64, noticed: PacketReference, span: TimeSpan, cause: HoleCause,
        on id: ConnectionID
    ) {}
    mutating func acknowledged(by side: Side, upTo offset: UInt64, at: PacketReference, on id: ConnectionID) {}
    mutating func overlapConflict(from side: Side, at: PacketReference, on id: ConnectionID) {}
    mutating func finished(side: Side, at: PacketReference, on id: ConnectionID) {}
    mutating func closed(_ end: ConnectionEnd) {}

    mutating func datagram(
        _ bytes: UnsafeRawBufferPointer, length: Int, from side: Side, at: PacketReference, on id: ConnectionID
    ) {
        if firstDatagrams.count < 24 { firstDatagrams.append(Array(bytes)) }
    }

    mutating func identified(_ process: ProcessIdentity, of id: ConnectionID) {}
    mutating func blind(_ spot: BlindSpot) {}
}
