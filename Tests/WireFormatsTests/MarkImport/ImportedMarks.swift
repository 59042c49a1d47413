import SessionTrace
import WireFormats

/// What an import makes of a text, as lines that tests compare.
struct ImportedMarks {
    var reading: MarkImport.Reading

    init(reading: MarkImport.Reading) {
        self.reading = reading
    }

    init(_ text: String, _ format: MarkImport.Format, settings: MarkImport.Settings = .init()) throws(MarkError) {
        var marks = MarkImport(format, settings: settings)
        try marks.receive(Array(text.utf8)[...])
        reading = try marks.finish()
    }

    /// `line kind target from…until ×count name attributes`, times of day to the nanosecond.
    var lines: [String] {
        reading.marks.map { imported in
            let mark = imported.mark
            func time(_ instant: Instant) -> String { String(instant.rfc3339.dropFirst(11).dropLast()) }
            var line = "\(imported.line) \(mark.kind.rawValue) \(mark.target?.rawValue ?? "-")"
            line += " \(time(mark.span.earliest))…\(time(mark.span.latest))"
            if mark.count != 1 { line += " ×\(mark.count)" }
            if let name = mark.name { line += " \(name)" }
            for (name, value) in mark.attributes.sorted(by: { $0.key < $1.key }) { line += " \(name)=\(value)" }
            return line
        }
    }

    /// `count line text` of what was left out.
    var remarks: [String] { reading.remarks.map { "\($0.count)@\($0.line) \($0.text)" } }

    static func settings(
        year: Int? = nil, date: String? = nil, zoneSeconds: Int? = nil, targets: [String] = []
    ) -> MarkImport.Settings {
        var settings = MarkImport.Settings()
        settings.year = year
        settings.date = date.flatMap { Instant(rfc3339: "\($0)T00:00:00Z") }
        settings.zoneSeconds = zoneSeconds
        for target in targets { _ = settings.labels.add(target) }
        return settings
    }
}

extension MarkError {
    /// The error of what should not have worked.
    static func of(_ body: () throws(MarkError) -> ImportedMarks) -> String {
        do throws(MarkError) {
            return "no error: \(try body().lines)"
        } catch {
            return "\(error)"
        }
    }
}
