package import SessionTrace

/// The first line of an HTTP/1 message (RFC 9112 §3, §4), read without copying.
package enum StartLine {
    /// A request line: where the method and the target lie in the line; the version is nil for an HTTP/0.9 request.
    package struct Request {
        package var method: Range<Int>
        package var target: Range<Int>
        package var version: HTTPVersion?
        /// What the grammar does not allow, if anything.
        package var oddity: String?
    }

    /// A status line: the status, where the reason phrase lies in the line, and the version.
    package struct Status {
        package var status: Int
        package var reason: Range<Int>
        package var version: HTTPVersion
        package var oddity: String?
    }

    /// Longest method that is believed.
    package static let methodLimit = 32

    /// Reads a request line without its line end. Nil when it is none.
    package static func request(_ line: UnsafeRawBufferPointer) -> Request? {
        var methodEnd = 0
        while methodEnd < line.count, ByteSearch.isTokenByte(line[methodEnd]) { methodEnd &+= 1 }
        guard methodEnd > 0, methodEnd <= methodLimit, methodEnd < line.count, line[methodEnd] == 0x20 else {
            return nil
        }
        var start = methodEnd &+ 1
        var oddity: String?
        while start < line.count, line[start] == 0x20 {
            oddity = "more than one space after the method"
            start &+= 1
        }
        guard let version = versionAtEnd(line) else {
            // HTTP/0.9 knows only `GET target` (and some servers take any method).
            guard start < line.count, ByteSearch.equalsIgnoringCase(line.slice(0..<methodEnd), "get") else {
                return nil
            }
            guard line[start] == 0x2F, !line.slice(start..<line.count).contains(0x20) else { return nil }
            return Request(method: 0..<methodEnd, target: start..<line.count, version: nil, oddity: "no version")
        }
        var end = version.start
        while end > start, line[end &- 1] == 0x20 { end &-= 1 }
        guard end > start, end < version.start else { return nil }
        let target = line.slice(start..<end)
        if version.start &- end > 1 { oddity = "more than one space before the version" }
        for byte in target where byte <= 0x20 || byte == 0x7F {
            oddity = byte == 0x20 ? "space in the request target" : "control character in the request target"
        }
        return Request(method: 0..<methodEnd, target: start..<end, version: version.version, oddity: oddity)
    }

    /// Reads a status line without its line end. Nil when it is none.
    package static func status(_ line: UnsafeRawBufferPointer) -> Status? {
        guard line.count >= 12, let version = version(line.slice(0..<8)), line[8] == 0x20 else { return nil }
        var start = 9
        var oddity: String?
        while start < line.count, line[start] == 0x20 {
            oddity = "more than one space after the version"
            start &+= 1
        }
        guard start &+ 3 <= line.count else { return nil }
        var status = 0
        for byte in line.slice(start..<start &+ 3) {
            guard byte &- 0x30 < 10 else { return nil }
            status = status &* 10 &+ Int(byte &- 0x30)
        }
        guard status >= 100 else { return nil }
        let end = start &+ 3
        if end == line.count {
            return Status(status: status, reason: end..<end, version: version, oddity: oddity)
        }
        guard line[end] == 0x20 else { return nil }
        return Status(status: status, reason: end &+ 1..<line.count, version: version, oddity: oddity)
    }

    /// Whether the first bytes of a message (its first line may be incomplete) can begin a request line.
    package static func mayBeginRequest(_ bytes: UnsafeRawBufferPointer) -> Bool {
        for index in 0..<min(bytes.count, methodLimit &+ 1) where !ByteSearch.isTokenByte(bytes[index]) {
            return index > 0 && bytes[index] == 0x20
        }
        return bytes.count <= methodLimit
    }

    /// Whether the first bytes of a message can begin a status line.
    package static func mayBeginStatus(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let count = min(bytes.count, 5)
        for index in 0..<count {
            let expected: UInt8 =
                switch index {
                case 0: 0x48
                case 1, 2: 0x54
                case 3: 0x50
                default: 0x2F
                }
            guard bytes[index] == expected || (index < 4 && bytes[index] == expected | 0x20) else { return false }
        }
        return true
    }

    private static func versionAtEnd(_ line: UnsafeRawBufferPointer) -> (start: Int, version: HTTPVersion)? {
        var end = line.count
        while end > 0, line[end &- 1] == 0x20 { end &-= 1 }
        guard end >= 8, let version = version(line.slice(end &- 8..<end)) else { return nil }
        return (end &- 8, version)
    }

    /// `HTTP/1.x` in eight bytes; any minor version but 0 is read as 1.1 (RFC 9110 §2.5).
    private static func version(_ bytes: UnsafeRawBufferPointer) -> HTTPVersion? {
        guard bytes.count == 8, mayBeginStatus(bytes), bytes[5] == 0x31, bytes[6] == 0x2E, bytes[7] &- 0x30 < 10 else {
            return nil
        }
        return bytes[7] == 0x30 ? .http10 : .http11
    }
}
