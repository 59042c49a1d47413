/// The account of a connection's encryption, once it has ended.
internal import SessionTrace
internal import WireFormats

extension TLSConnectionDecoder {
    /// Gives the `SecureSession` and one blind spot for each side (or one for both) whose data stayed closed.
    func report(at packet: PacketReference, into sink: inout some TLSSink) {
        sink.secureEvent(
            .secureSession(
                SecureSession(
                    connection: connection, version: isSSLv2 ? 0x0002 : negotiation?.version,
                    cipherSuite: negotiation?.suite, applicationProtocol: applicationProtocol,
                    readability: readability, alert: alert, clientApplicationBytes: client.traffic.bytes,
                    serverApplicationBytes: server.traffic.bytes, firstClientData: client.traffic.first,
                    lastClientData: client.traffic.last, isEncryptedClientHelloAccepted: innerRandom != nil)))
        let dark = Side.allCases.filter { self[$0].traffic.closedRecords > 0 }
        if dark.count == 2, client.traffic.reason == server.traffic.reason {
            let first = [client, server].compactMap(\.traffic.firstClosed).min { $0.time < $1.time } ?? packet
            let last = [client, server].compactMap(\.traffic.lastClosed).max { $0.time < $1.time } ?? packet
            give(
                client.traffic.reason, from: nil, first, last,
                bytes: client.traffic.closedBytes + server.traffic.closedBytes, into: &sink)
        } else {
            for side in dark {
                let traffic = self[side].traffic
                give(
                    traffic.reason, from: side, traffic.firstClosed ?? packet, traffic.lastClosed ?? packet,
                    bytes: traffic.closedBytes, into: &sink)
            }
        }
        for side in Side.allCases {
            let traffic = self[side].traffic
            guard traffic.closedRecords == 0, traffic.hasLoss, let first = traffic.firstClosed,
                let last = traffic.lastClosed
            else { continue }
            give(.hole, from: side, first, last, bytes: traffic.lostBytes, into: &sink)
        }
    }

    private var readability: SecureSession.Readability {
        let opened = client.traffic.openedRecords + server.traffic.openedRecords
        let closed = client.traffic.closedRecords + server.traffic.closedRecords
        let reason = client.traffic.reason ?? server.traffic.reason
        let hasLoss = client.traffic.hasLoss || server.traffic.hasLoss
        if closed > 0 { return opened > 0 ? .partly(reason ?? .noKeys) : .opaque(reason ?? .noKeys) }
        if hasLoss { return opened > 0 ? .partly(.hole) : .opaque(.hole) }
        return opened > 0 ? .decrypted : .noApplicationData
    }

    private func give(
        _ reason: SecureSession.UnreadableReason?, from side: Side?, _ first: PacketReference, _ last: PacketReference,
        bytes: Int, into sink: inout some TLSSink
    ) {
        let blind: (reason: BlindSpot.Reason, detail: String) =
            switch reason {
            case .noKeys, nil: (.noKeys, "no key log entry for this connection")
            case .keysDoNotFit: (.keysDoNotFit, "records do not verify under the key log's secrets")
            case .handshakeNotSeen: (.handshakeNotSeen, "the handshake is not in the capture")
            case .unsupported(let name): (.unsupportedEncryption, name)
            case .hole: (.tcpHole, "records that a hole in the stream has cut or hidden")
            }
        sink.secureEvent(
            .blindSpot(
                BlindSpot(
                    reason: blind.reason, connection: connection, from: side, span: TimeSpan(first.time, last.time),
                    bytes: bytes, noticed: first, detail: blind.detail)))
    }
}
