internal import SessionTrace

/// Marks in the output of `adb logcat` (AOSP `liblog/logprint.cpp`, `logcat --help`): the app's own words under any tag,
/// and the start of a browser by the system.
///
/// ```
/// 1764479431.123456  1234  1240 I handoff : handoff-mark {"kind":"tap","target":"share"}
/// 11-30 05:10:31.120  1652  4143 I ActivityTaskManager: START u0 {act=android.intent.action.VIEW dat=https://… cmp=…}
/// ```
///
/// Read are `-v threadtime` (the default) and `-v time` with any of `epoch`, `monotonic`, `usec`, `year`, `zone` and
/// `uid`. Times are the device's wall clock; those of `-v monotonic` are logd's estimate of the monotonic clock, off by
/// some milliseconds. A page that the shell opened, or that another app than a browser shows, is no mark: an app that takes
/// its own return link does so. Of an intent nothing is kept but the package that it started: its data can be the handoff's URL.
struct LogcatLog: MarkLogReader {
    private struct Head {
        var value: LogStamp.Value
        var tag: String
        /// Where the message begins.
        var message: Int
    }

    mutating func take(_ line: LogLine, _ log: inout MarkLog) throws(MarkError) {
        var cursor = LineCursor(line.bytes)
        guard let (receipt, head) = cursor.received(Self.head) else {
            if !cursor.take("--------- ") { log.leaveOut(line.number) }
            return
        }
        log.understand()
        if case .civil(let civil) = head.value { log.dating.follow(civil) }
        if receipt != nil {
            log.receive(receipt, try log.reading(of: head.value, line: line.number), line: line.number)
        }
        cursor.index = head.message
        if cursor.find("handoff-mark") != nil {
            let stamp = try log.reading(of: head.value, line: line.number)
            if try log.takeOwnWords(cursor, stamp: stamp, line: line.number) { return }
            log.remark("speaks of handoff-mark without an object", line.number)
        }
        if head.tag == "ActivityTaskManager" || head.tag == "ActivityManager", cursor.take("START u") {
            try start(String(decoding: cursor.rest, as: UTF8.self), head, line.number, &log)
        }
    }

    mutating func finish(_ log: inout MarkLog) throws(MarkError) {}

    /// An activity's start: a browser's if a web page is to be viewed.
    private func start(_ text: String, _ head: Head, _ line: Int, _ log: inout MarkLog) throws(MarkError) {
        guard let open = text.firstIndex(of: "{"), let close = text.lastIndex(of: "}"), open < close else { return }
        let words = text[text.index(after: open)..<close].split(separator: " ")
        func value(_ name: String) -> Substring? { words.first { $0.hasPrefix(name) }?.dropFirst(name.count) }
        guard value("act=") == "android.intent.action.VIEW", let data = value("dat=")?.lowercased(),
            data.hasPrefix("https:") || data.hasPrefix("http:")
        else { return }
        if let code = text[close...].split(separator: " ").first(where: { $0.hasPrefix("code=") }),
            let number = Int(code.dropFirst(5)), !(0...3).contains(number)
        {
            log.remark("a start of a browser that did not succeed", line)
            return
        }
        let rest = text[close...].split(separator: " ")
        if let place = rest.firstIndex(of: "uid"), rest[place...].dropFirst().first == Self.shell {
            log.remark("a web page was opened from the shell, not by an app; no mark", line)
            return
        }
        let package = value("cmp=").map { $0.prefix { $0 != "/" } } ?? ""
        guard !Self.choosers.contains(String(package)) else {
            log.remark("a choice of browsers was shown: which opened, and when, is not known", line)
            return
        }
        guard
            Self.browsers.contains(where: {
                package == $0 || package.hasPrefix("\($0).") || package.hasPrefix("\($0)_")
            })
        else {
            log.remark("a web page was opened in an app that is no known browser; no mark", line)
            return
        }
        let stamp = try log.reading(of: head.value, line: line)
        var mark = Mark(kind: .opened, span: stamp.span, isOnTraceClock: false, source: .sideFile)
        mark.attributes["package"] = String(package.prefix(TapLabels.nameLimit))
        try log.add(mark, line: line, isMonotonic: stamp.isMonotonic)
    }

    /// The user that `adb shell am start` is: the tester, and not the app.
    private static let shell: Substring = "2000"
    /// Who asks the person for a browser.
    private static let choosers: Set<String> = ["android", "com.android.intentresolver"]
    /// Packages of browsers, with those whose names go on behind a point.
    private static let browsers = [
        "com.android.chrome", "com.chrome", "com.google.android.apps.chrome", "org.chromium", "com.android.browser",
        "org.mozilla", "com.sec.android.app.sbrowser", "com.microsoft.emmx", "com.opera", "com.brave.browser",
        "com.duckduckgo.mobile.android", "com.vivaldi.browser", "com.ecosia.android", "com.huawei.browser",
        "com.mi.globalbrowser", "com.heytap.browser", "com.vivo.browser", "com.yandex.browser", "com.UCMobile",
        "com.kiwibrowser.browser", "app.vanadium.browser", "org.torproject.torbrowser", "org.lineageos.jelly",
    ]

    private static let priorities: Set<UInt8> = Set("VDIWEFAS".utf8)

    private static func head(_ cursor: inout LineCursor) -> Head? {
        cursor.skipSpaces()
        let value: LogStamp.Value
        if let seconds = cursor.seconds() {
            value = .seconds(seconds)
        } else if let civil = cursor.civil(), civil.month != nil {
            value = .civil(civil)
        } else {
            return nil
        }
        guard cursor.next == 0x20 else { return nil }
        // User, process, thread; then the priority.
        for _ in 0..<4 {
            cursor.skipSpaces()
            let start = cursor.index
            guard let word = cursor.word(), let first = word.first else { return nil }
            let isPriority = priorities.contains(first)
            if isPriority, word.count == 1 {
                return headed(value, tagFrom: cursor.index, end: cursor.find(": "), skipping: 2, cursor)
            }
            if isPriority, word.count > 1, word[word.startIndex + 1] == UInt8(ascii: "/") {
                cursor.index = start
                return headed(value, tagFrom: start + 2, end: cursor.find("): "), skipping: 3, cursor)
            }
            guard word.allSatisfy(isOfUser) else { return nil }
        }
        return nil
    }

    private static func headed(
        _ value: LogStamp.Value, tagFrom start: Int, end: Int?, skipping: Int, _ cursor: LineCursor
    ) -> Head {
        let tagEnd = max(start, min(end ?? cursor.bytes.count, cursor.bytes.count))
        var tag = cursor.bytes[start..<tagEnd].drop { $0 == 0x20 }
        if let bracket = tag.firstIndex(of: UInt8(ascii: "(")), skipping == 3 { tag = tag[..<bracket] }
        while tag.last == 0x20 { tag = tag.dropLast() }
        return Head(
            value: value, tag: String(decoding: tag, as: UTF8.self), message: min(tagEnd + skipping, cursor.bytes.count)
        )
    }

    /// A byte of a number or of a user's name (`1000`, `u0_a123`, `system:`).
    private static func isOfUser(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x3A, 0x41...0x5A, 0x61...0x7A, 0x5F: true
        default: false
        }
    }
}
