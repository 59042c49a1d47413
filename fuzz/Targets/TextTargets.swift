@testable import Assertions
@testable import ContentCodings
@testable import SessionTrace
@testable import WireFormats

/// Any bytes with any codings; the limit holds.
@Sendable func fuzzContentCodings(_ bytes: UnsafeRawBufferPointer) {
    guard let flags = bytes.first else { return }
    let content = UnsafeRawBufferPointer(rebasing: bytes.dropFirst())
    let names = ["gzip", "deflate", "br", "zstd"]
    var codings = [names[Int(flags & 3)]]
    if flags & 4 != 0 { codings.append(names[Int(flags >> 3 & 3)]) }
    let limit = 1 << 16
    let whole = ContentCodings.decodeAll(content, codings: codings, limit: limit)
    check(whole.undone.isEmpty || whole.bytes.count <= limit, "\(whole.bytes.count) bytes out")
    guard let coding = ContentDecoder.Coding(token: codings[0]) else { return }
    var decoder = ContentDecoder(coding)
    var output: [UInt8] = []
    for piece in pieces(content, of: 7) {
        guard let progress = try? decoder.decode(piece, into: &output, limit: limit - output.count) else { break }
        check(progress.consumed <= piece.count, "used more than there was")
        if progress.consumed < piece.count { break }
    }
    check(output.count <= limit, "\(output.count) bytes out")
}

/// A mark in each of its carriers; one that was read reads the same from its own text.
@Sendable func fuzzMarks(_ bytes: UnsafeRawBufferPointer) {
    let packet = PacketReference(number: 7, time: Instant(nanoseconds: 1_700_000_000_000_000_000))
    _ = TraceText.read(datagram: bytes, at: packet)
    _ = TraceText.read(comment: String(decoding: bytes, as: UTF8.self), on: packet)
    _ = MarkFile(Array(bytes), name: "fuzz.marks.jsonl")
    guard let read = try? MarkReader.read(Array(bytes), source: .sideFile, packet: nil) else { return }
    _ = TraceText.text(of: read.mark)
    var repeats = MarkRepeats()
    _ = repeats.isRepeat(read)
}

/// A log of the format that the first byte chooses: in pieces it has the marks that it has as a whole, and each is a line
/// of a side file. The log is read as a file of probes too, which moves the marks.
@Sendable func fuzzMarkImport(_ bytes: UnsafeRawBufferPointer) {
    guard let first = bytes.first else { return }
    let format = MarkImport.Format.allCases[Int(first) % MarkImport.Format.allCases.count]
    let log = Array(bytes.dropFirst())
    var settings = MarkImport.Settings()
    settings.year = 2026
    settings.date = Instant(nanoseconds: 1_700_000_000_000_000_000)
    settings.zoneSeconds = 3_600
    _ = settings.labels.add("0,0-800,800=share")
    func read(_ size: Int) -> MarkImport.Reading? {
        var marks = MarkImport(format, settings: settings)
        for start in stride(from: 0, to: log.count, by: size) {
            guard (try? marks.receive(log[start..<min(start + size, log.count)])) != nil else { return nil }
        }
        return try? marks.finish()
    }
    let whole = read(max(log.count, 1))
    let pieces = read(7)
    check(whole?.marks == pieces?.marks && whole?.remarks == pieces?.remarks, "pieces read otherwise")
    let probes = (try? ClockProbeFile(log))?.probes ?? []
    guard let whole, let offset = try? ClockOffset(probes: probes, receipts: whole.receipts) else { return }
    for imported in whole.marks {
        var mark = imported.mark
        guard let span = try? offset.reference(mark.span, line: imported.line) else { continue }
        mark.span = span
        let text = Array(TraceText.text(of: mark).utf8.dropFirst(TraceText.markPrefix.utf8.count))
        check((try? MarkReader.read(text, source: .sideFile, packet: nil)) != nil, "a mark that does not read")
    }
}

/// A text that was read writes and reads the same.
@Sendable func fuzzJSON(_ bytes: UnsafeRawBufferPointer) {
    do {
        let value = try JSONValue.parse(bytes)
        let text = value.description
        let again = try JSONValue.parse(text)
        check(again == value, "\(text) reads as \(again)")
        _ = value.hasDuplicateNames
        _ = value.value(at: "/a/0/b")
    } catch {
        check(error.line >= 1 && error.column >= 1 && error.offset <= max(bytes.count * 6, 64), "\(error)")
    }
}

/// Any text as a policy: a policy, or faults with their places.
@Sendable func fuzzPolicy(_ bytes: UnsafeRawBufferPointer) {
    let text = String(decoding: bytes, as: UTF8.self)
    do throws(PolicyError) {
        let policy = try Policy.parse(yaml: text, file: "fuzz.yml")
        if let host = HostName("www.partner.example") { _ = policy.roleName(of: host) }
    } catch {
        check(!error.issues.isEmpty, "an error without a fault")
        let lines =
            text.unicodeScalars.count {
                $0 == "\n" || $0 == "\r" || $0 == "\u{85}" || $0 == "\u{2028}" || $0 == "\u{2029}"
            } + 1
        for issue in error.issues {
            check(issue.line >= 1 && issue.column >= 1 && issue.line <= lines + 1, "\(issue) in \(lines) lines")
        }
    }
}

/// A request's body and target under the scanner; a needle that is plainly there is found.
@Sendable func fuzzScanner(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count >= 2 else { return }
    let flags = bytes[0]
    let targetLength = Int(bytes[1])
    let target = String(decoding: bytes.dropFirst(2).prefix(targetLength), as: UTF8.self)
    let body = Array(bytes.dropFirst(2 + targetLength))
    var scanner = LeakScanner(redactor: Redactor(installationKey: [1]))
    let url = "https://secure.chia.health/handoff/q7XW0dJx2bYvN4tGk9mRfA3sLzE8hPcU"
    scanner.learn(needle: Needle(number: 1, kind: .handoffURL, label: "U#1", value: url))
    let types = [
        "application/json", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain",
    ]
    let codings = ["gzip", "deflate", "br", "zstd"]
    let place = PacketReference(number: 1, time: Instant(nanoseconds: 0))
    var fields = FieldSection()
    fields.append(name: "content-type".utf8, value: types[Int(flags & 3)].utf8)
    if flags & 4 != 0 { fields.append(name: "content-encoding".utf8, value: codings[Int(flags >> 3 & 3)].utf8) }
    let request = Request(
        method: "POST", target: target, scheme: "https", authority: "t.example", fields: fields,
        body: Body(bytes: body, length: body.count, missing: 0, isComplete: true, isCut: false), started: place,
        ended: place)
    _ = scanner.scan(request)
    if flags & 0x20 != 0 {
        let here = scanner.scan(bytes: body + Array(" \(url) ".utf8), location: "body")
        check(!here.hits.isEmpty || !here.gaps.isEmpty, "a needle that is there was not found")
    }
}
