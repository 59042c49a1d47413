internal import SessionTrace

/// The names of a run's trace files: `NAME.pcapng`, then `NAME.DEVICE.pcapng`.
struct TraceFileNames {
    private static let suffix = ".pcapng"
    /// Most characters of a device's part of a name: with the rest far below what file systems take.
    private static let deviceLimit = 64
    /// Most numbers that are tried when a name is taken.
    private static let attemptLimit = 1_000

    private let stem: String
    private var used: Set<String> = []
    private var attempts = 0

    /// Names after the path that was asked for, with or without its `.pcapng`.
    init(_ path: String) {
        stem = path.hasSuffix(Self.suffix) ? String(path.dropLast(Self.suffix.count)) : path
    }

    /// The first file's path.
    var first: String { stem + Self.suffix }

    /// Whether another name may be asked for after one that was taken.
    var hasMore: Bool { attempts < Self.attemptLimit }

    /// A path for a further device: its name where it has one, else the address that it called from. Asked again, it
    /// numbers on.
    mutating func next(for device: DeviceKey, address: IPAddress) -> String {
        let part: String
        if case .named(let name) = device { part = Self.safe(name) } else { part = Self.safe(address.description) }
        var path = "\(stem).\(part)\(Self.suffix)"
        var number = 1
        while !used.insert(path).inserted {
            number += 1
            path = "\(stem).\(part)-\(number)\(Self.suffix)"
        }
        attempts += 1
        return path
    }

    /// What is safe in a file's name on every system: letters, digits, `.`, `_` and `-`; the colons of IPv6 become `-`.
    private static func safe(_ text: String) -> String {
        let characters = text.utf8.prefix(deviceLimit).map { byte -> Character in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"):
                Character(Unicode.Scalar(byte))
            default: "-"
            }
        }
        return characters.isEmpty ? "device" : String(characters)
    }
}
