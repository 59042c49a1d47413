internal import Assertions
internal import SessionTrace

/// A report that was asked for: `json=PATH`.
struct ReportRequest: Equatable {
    enum Format: String, CaseIterable {
        case json, junit
    }

    var format: Format
    var path: String

    static func parse(_ requests: [String]) throws(UsageError) -> [ReportRequest] {
        var parsed: [ReportRequest] = []
        for request in requests {
            let parts = request.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2, let format = Format(rawValue: parts[0]) else {
                let known = Format.allCases.map(\.rawValue)
                let hint = NearestWord.to(parts.first ?? "", among: known).map { " (did you mean \($0)=PATH?)" }
                throw UsageError(
                    message: "--report takes FORMAT=PATH with a format of \(known.joined(separator: ", "))\(hint ?? "")"
                )
            }
            parsed.append(ReportRequest(format: format, path: parts[1]))
        }
        guard parsed.filter({ $0.path == "-" }).count <= 1 else {
            throw UsageError(message: "only one report can go to standard output")
        }
        return parsed
    }

    /// A report may replace neither what is read nor another report, and is no name for what the next run would read.
    static func claim(_ reports: [ReportRequest], in files: inout RunFiles) throws(UsageError) {
        for report in reports where report.path != "-" {
            try files.claim(report.path, as: report.name)
            try TraceFiles.refuse(report.path, as: report.name)
        }
    }

    /// What it is called: `the json report`.
    var name: String { "the \(format.rawValue) report" }
}
