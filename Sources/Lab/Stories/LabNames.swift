internal import EventLoop
internal import SessionTrace

/// DNS messages as the lab needs them: one question, and the address of a name (RFC 1035 §4).
enum LabNameMessage {
    static let addressType: UInt16 = 1
    static let address6Type: UInt16 = 28
    static let httpsType: UInt16 = 65

    /// A query.
    static func query(_ name: String, type: UInt16, id: UInt16) -> [UInt8] {
        big(id) + [1, 0, 0, 1, 0, 0, 0, 0, 0, 0] + question(name, type)
    }

    /// The answer to a query; without an address the name has none of that type.
    static func answer(to query: [UInt8], address: (String) -> IPAddress?) -> [UInt8]? {
        guard query.count > 16, let (name, end) = name(in: query, at: 12), query.count >= end + 4 else { return nil }
        let type = UInt16(query[end]) << 8 | UInt16(query[end + 1])
        let found = address(name)
        var data: [UInt8] = []
        if let found {
            if type == addressType, found.isIPv4 {
                data = big(UInt32(truncatingIfNeeded: found.low))
            } else if type == address6Type, !found.isIPv4 {
                data = big(found.high) + big(found.low)
            }
        }
        let code: UInt8 = found == nil ? 3 : 0
        var answer = Array(query[0..<2]) + [0x81, 0x80 | code, 0, 1, 0, data.isEmpty ? 0 : 1, 0, 0, 0, 0]
        answer += query[12..<end + 4]
        guard !data.isEmpty else { return answer }
        answer += [0xC0, 12] + big(type) + [0, 1] + big(UInt32(30)) + big(UInt16(data.count)) + data
        return answer
    }

    private static func question(_ name: String, _ type: UInt16) -> [UInt8] {
        let labels = name.split(separator: ".").flatMap { [UInt8(truncatingIfNeeded: $0.utf8.count)] + Array($0.utf8) }
        return labels + [0] + big(type) + [0, 1]
    }

    private static func name(in bytes: [UInt8], at start: Int) -> (String, Int)? {
        var labels: [String] = []
        var position = start
        while position < bytes.count {
            let length = Int(bytes[position])
            if length == 0 { return (labels.joined(separator: "."), position + 1) }
            guard length < 64, position + 1 + length <= bytes.count else { return nil }
            labels.append(String(decoding: bytes[position + 1..<position + 1 + length], as: UTF8.self))
            position += 1 + length
        }
        return nil
    }

    private static func big(_ number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }
}

/// The name server of a session's network.
actor LabNameServer {
    private nonisolated let loop: EventLoop
    private let network: LabNetwork
    private let socket: UDPSocket
    private var service: Task<Void, Never>?

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    init(_ network: LabNetwork, on loop: EventLoop) throws {
        self.loop = loop
        self.network = network
        socket = try UDPSocket.bind(to: Endpoint(address: network.proxy, port: 53), loop: loop)
    }

    func start() {
        service = Task(executorPreference: loop) { await self.serve() }
    }

    func stop() async {
        socket.close()
        service?.cancel()
        await service?.value
    }

    private func serve() async {
        while let query = try? await socket.receive() {
            guard let answer = LabNameMessage.answer(to: query.bytes, address: network.address(of:)) else { continue }
            try? await socket.send(answer, to: query.from)
        }
    }
}
