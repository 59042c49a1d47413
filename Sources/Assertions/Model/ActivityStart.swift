internal import SessionTrace

/// What an activity's component says of where a URL was opened.
enum ActivityKind: Hashable, Sendable {
    /// A Custom Tab or another view that a browser lends to an app.
    case customTab
    /// The browser's own window.
    case browser
    /// A browser's entry, which decides between the two.
    case dispatcher
    /// An activity of another app.
    case other

    /// Reads `PACKAGE/CLASS`.
    init(component: String) {
        let pieces = component.split(separator: "/", maxSplits: 1)
        let package = String(pieces.first ?? "")
        let name = String(pieces.count > 1 ? pieces[1] : "").lowercased()
        guard ProcessNames.isBrowser(package) else {
            self = .other
            return
        }
        if ["customtab", "externalappbrowser", "trustedwebactivity", "webappactivity"].contains(where: name.contains) {
            self = .customTab
        } else if ["tabbedactivity", "homeactivity", "sbrowsermainactivity", "apps.chrome.main", "browseractivity"]
            .contains(where: name.contains)
        {
            self = .browser
        } else {
            self = .dispatcher
        }
    }
}

extension Session {
    /// How long before its navigation's first byte an activity is started to show the page, at most.
    static let activityWindow = Nanoseconds.seconds(10)

    /// The activity that shows what a navigation opened: the last one that was started in the ten seconds before it and
    /// says anything. Clocks of logs are known to 250 ms.
    func activity(showing record: RequestRecord) -> (start: ActivityStart, kind: ActivityKind)? {
        let end = record.started.time.advanced(byNanoseconds: 250_000_000)
        let next = activities.partitioningIndex { $0.span.earliest > end }
        for start in activities[..<next].reversed() {
            guard end.nanoseconds(since: start.span.earliest) <= Self.activityWindow.count else { break }
            let kind = ActivityKind(component: start.component)
            // One that names another address showed that one, unless it led here; where that can't be read, it is open.
            if kind != .other, let host = start.host, !leads(from: host, to: record) {
                if dark[host] != nil { return (start, .dispatcher) }
                continue
            }
            switch kind {
            case .customTab, .dispatcher: return (start, kind)
            case .browser:
                // Opened without an address, from the home screen or a list of tasks, it says nothing of this one.
                if start.host != nil || start.action == "android.intent.action.VIEW" { return (start, kind) }
            case .other:
                // An app that takes the address itself, in place of a browser.
                if start.opensAddress { return (start, kind) }
            }
        }
        return nil
    }

    /// Whether an address on `host` is what a navigation asked for, or sent the browser on to it.
    private func leads(from host: HostName, to record: RequestRecord) -> Bool {
        record.host == host || hops(to: record, since: .distantPast).contains { $0.host == host }
    }
}
