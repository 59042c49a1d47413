internal import SessionTrace

/// Something that the app did, by which it may have opened a page.
struct AppAct {
    var time: Instant
    /// `a tap`, `the answer to attempt 1`.
    var words: String
}

/// A second request for a page that was open already: is it the app's, or the browser's that goes back, brings a tab again,
/// or repeats what a fault of the recorder's own had spoilt?
extension Session {
    /// A person does not go on and come back within this time; an app whose taps were not joined opens twice within it.
    static let backWindow = Nanoseconds.seconds(1)
    /// How long after something that the app did a page may still be opened because of it.
    static let actWindow = Nanoseconds.seconds(10)

    /// What the app did, in order of time.
    func acts() -> [AppAct] {
        let marked = marks([.launch, .foreground, .restore]).map {
            AppAct(time: $0.span.earliest, words: "the app's \($0.kind.rawValue)")
        }
        let tapped = taps.map { AppAct(time: $0.span.earliest, words: "a tap") }
        let answered = attempts.map { AppAct(time: $0.ended, words: "the answer to attempt \($0.number)") }
        return (marked + tapped + answered).sorted { $0.time < $1.time }
    }

    /// The act of the app by which it may have opened a page; nil when the last one was too long before.
    func act(before opening: Navigation, among acts: [AppAct]) -> AppAct? {
        let next = acts.partitioningIndex { $0.time > opening.started }
        guard next > 0, opening.started.nanoseconds(since: acts[next - 1].time) <= Self.actWindow.count else {
            return nil
        }
        return acts[next - 1]
    }

    /// Why `record` may be the browser's own return to a page rather than an opening by the app, in words; nil when it can't
    /// be. Nothing was tapped or launched between them and the app sent nothing just before; and the browser had gone to
    /// another page in between, or a mark says that it was left and came back.
    func perhapsReturn(_ record: RequestRecord, after first: RequestRecord) -> String? {
        let from = first.started.time
        let to = record.started.time
        guard from < to, record.actor.actor == .browser,
            !taps.contains(where: { $0.span.latest > from && $0.span.earliest <= to }),
            !hasMark([.launch], from: from, to: to)
        else { return nil }
        let between = requests.requests(from: from, until: to)
        let elsewhere = between.last { request in
            request.actor.actor == .browser && request.page?.opensPage ?? false && isElsewhere(request, first)
        }
        let last = marks([.foreground, .background, .restore, .kill]).last {
            $0.span.earliest > from && $0.span.latest <= to
        }
        // An app that has just come to the front is where the person is, and what is opened then is its act.
        if let last, last.kind != .background, to.nanoseconds(since: last.span.earliest) <= Self.actWindow.count {
            return nil
        }
        let back = last?.kind == .background ? last : nil
        let left = [elsewhere?.started.time, back?.span.earliest].compactMap(\.self).max()
        guard let left else {
            guard let cut = requests.uncountedSince, cut < to else { return nil }
            return "the log of requests was full, so that nothing tells where the browser was meanwhile"
        }
        if back == nil, to.nanoseconds(since: from) < Self.backWindow.count { return nil }
        // What the app sent since may have been followed by its opening the page again.
        let since = max(left, to.advanced(byNanoseconds: -Self.actWindow.count))
        guard
            !between.contains(where: {
                $0.started.time > since && $0.actor.actor.isApp
            })
        else { return nil }
        if let elsewhere {
            return
                "the browser had gone to another page \(Nanoseconds(to.nanoseconds(since: elsewhere.started.time))) before"
        }
        return back.map { "the app's \($0.kind.rawValue) is marked between" }
    }

    /// Whether another page was opened, and not merely by a redirect of the first one.
    private func isElsewhere(_ request: LoggedRequest, _ first: RequestRecord) -> Bool {
        guard let host = request.host, request.id != first.id,
            let address = WebAddress("https://\(host)\(request.target)")
        else { return false }
        if first.address.map({ $0.relation(of: address) != .other }) ?? false { return false }
        return redirects[address] == nil
    }

    /// Why a further opening may be a reload, in words; nil when nothing says so.
    func perhapsReload(_ record: RequestRecord) -> String? {
        if record.revalidates { return "carries Cache-Control as a browser's reload does" }
        return index.mayBeReload(at: record.started.time) ? "comes just before a reload that was marked by hand" : nil
    }

    /// Whether a fault that the recorder injected spoilt a request: its repeat is not a second one.
    func metFault(_ record: RequestRecord) -> Bool {
        guard record.status == 0 || record.status >= 400 || record.end != .complete else { return false }
        return proxyFaults.contains { fault in
            fault.connection == record.id.connection
                && fault.attributes["exchange"].flatMap { Int($0) } == record.id.index
        }
    }
}

extension LoggedRequest.PageSigns {
    /// Whether a page was asked for, in a window of its own.
    var opensPage: Bool { opensDocument && (fetchDestination ?? "document") == "document" }
}
