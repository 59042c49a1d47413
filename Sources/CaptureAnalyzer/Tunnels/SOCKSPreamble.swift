internal import SessionTrace

/// Reads the opening of a SOCKS connection, both directions, until the tunnel begins.
///
/// SOCKS4 and 4a (the de-facto memos of 1992 and 1998), SOCKS5 (RFC 1928) with user/password (RFC 1929) or no
/// authentication. Bytes in, a state out; nothing is interpreted beyond what leads to the target.
///
///     client: greeting ──► [password] ──► request ──► (tunnel)
///     server: method   ──► [status]   ──► reply   ──► (tunnel)
struct SOCKSPreamble {
    /// The most bytes a preamble may take in one direction; beyond it the connection is no SOCKS.
    static let maximumLength = 2_048

    /// How far the preamble is.
    enum Progress: Equatable {
        /// More bytes are needed.
        case incomplete
        /// The tunnel is open: this many bytes of each direction's buffered input belong to the preamble.
        case open(ConnectionTarget, clientLength: Int, serverLength: Int)
        /// The server said no.
        case refused(ConnectionTarget?)
        /// These are not SOCKS bytes.
        case notSOCKS
    }

    /// Whether the first byte can begin a SOCKS request.
    static func begins(with byte: UInt8) -> Bool { byte == 4 || byte == 5 }

    /// Reads both directions from their start. Called again with longer buffers until it no longer says `incomplete`.
    static func read(client: [UInt8], server: [UInt8]) -> Progress {
        if client.count > maximumLength || server.count > maximumLength { return .notSOCKS }
        guard let version = client.first else { return .incomplete }
        return version == 4 ? readVersion4(client, server) : readVersion5(client, server)
    }

    private static func readVersion4(_ client: [UInt8], _ server: [UInt8]) -> Progress {
        guard client.count >= 9 else { return .incomplete }
        guard client[1] == 1 || client[1] == 2 else { return .notSOCKS }
        let port = UInt16(client[2]) << 8 | UInt16(client[3])
        let address = client[4..<8].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        guard let userEnd = client[8...].firstIndex(of: 0) else { return .incomplete }
        var end = userEnd + 1
        var host = HostName("\(IPAddress(ipv4: address))")
        // 4a: an address of 0.0.0.x announces a name behind the user id.
        if address >> 8 == 0, address != 0 {
            guard let nameEnd = client[end...].firstIndex(of: 0) else { return .incomplete }
            host = HostName(String(decoding: client[end..<nameEnd], as: UTF8.self))
            end = nameEnd + 1
        }
        guard let host else { return .notSOCKS }
        let target = ConnectionTarget(host: host, port: port)
        guard server.count >= 8 else { return .incomplete }
        guard server[0] == 0 else { return .notSOCKS }
        return server[1] == 90 ? .open(target, clientLength: end, serverLength: 8) : .refused(target)
    }

    private static func readVersion5(_ client: [UInt8], _ server: [UInt8]) -> Progress {
        guard client.count >= 2 else { return .incomplete }
        var sent = 2 + Int(client[1])
        guard client[1] > 0 else { return .notSOCKS }
        guard client.count >= sent, server.count >= 2 else { return .incomplete }
        guard server[0] == 5 else { return .notSOCKS }
        var received = 2
        switch server[1] {
        case 0:
            break
        case 2:
            guard client.count >= sent + 2 else { return .incomplete }
            let userEnd = sent + 2 + Int(client[sent + 1])
            guard client.count > userEnd else { return .incomplete }
            sent = userEnd + 1 + Int(client[userEnd])
            guard client.count >= sent, server.count >= received + 2 else { return .incomplete }
            guard server[received + 1] == 0 else { return .refused(nil) }
            received += 2
        case 0xFF:
            return .refused(nil)
        default:
            return .notSOCKS
        }
        guard let request = address(client, from: sent) else {
            return client.count > sent + 262 ? .notSOCKS : .incomplete
        }
        guard client[sent] == 5, client[sent + 1] == 1 else { return .notSOCKS }
        guard let host = request.host else { return .notSOCKS }
        let target = ConnectionTarget(host: host, port: request.port)
        guard let reply = address(server, from: received) else {
            // A refusal may come without the bound address.
            if server.count >= received + 2, server[received + 1] != 0 { return .refused(target) }
            return .incomplete
        }
        guard server[received] == 5 else { return .notSOCKS }
        guard server[received + 1] == 0 else { return .refused(target) }
        return .open(target, clientLength: request.end, serverLength: reply.end)
    }

    /// The address of a request or reply that begins at `start`; nil when it is not whole or of an unknown type.
    private static func address(_ bytes: [UInt8], from start: Int) -> (host: HostName?, port: UInt16, end: Int)? {
        guard bytes.count >= start + 5 else { return nil }
        let body = start + 4
        let host: HostName?
        let end: Int
        switch bytes[start + 3] {
        case 1:
            end = body + 4
            guard bytes.count >= end + 2 else { return nil }
            host = HostName("\(IPAddress(ipv4: bytes[body..<end].reduce(0) { $0 << 8 | UInt32($1) }))")
        case 3:
            end = body + 1 + Int(bytes[body])
            guard bytes.count >= end + 2 else { return nil }
            host = HostName(String(decoding: bytes[(body + 1)..<end], as: UTF8.self))
        case 4:
            end = body + 16
            guard bytes.count >= end + 2 else { return nil }
            let high = bytes[body..<(body + 8)].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            let low = bytes[(body + 8)..<end].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            host = HostName("\(IPAddress(ipv6High: high, low: low))")
        default:
            return nil
        }
        return (host, UInt16(bytes[end]) << 8 | UInt16(bytes[end + 1]), end + 2)
    }
}
