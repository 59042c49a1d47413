import Foundation
import SessionTrace
import Testing

@testable import CaptureAnalyzer

/// Files of `--actors`: lines to facts, and facts to connections.
@Suite struct ActorFileTests {
    private static let socket =
        #"{"kind":"socket","at":"2026-11-30T01:50:33Z","local":"10.0.0.2:41000","process":"com.android.chrome"}"#
    private static let start = Instant(rfc3339: "2026-11-30T01:50:33Z") ?? .distantPast

    private func file(_ lines: String...) throws -> ActorFile {
        try ActorFile(Array(lines.joined(separator: "\n").utf8), name: "a.jsonl")
    }

    // MARK: reading

    @Test func readsEveryKind() throws {
        let file = try ActorFile(
            [0xEF, 0xBB, 0xBF]
                + Array(
                    """
                    {"kind":"socket","at":"2026-11-30T01:50:33Z","until":"2026-11-30T01:51:00Z","local":"[2001:db8::2]:41000","remote":"[2001:db8::1]:443","process":"com.apple.WebKit.Networking","effective":"MobileSafari","pid":12,"uid":501,"source":"pcapd","comment":"ignored"}\r

                    {"kind":"activity","at":"2026-11-30T01:50:33.4+01:00","component":"com.android.chrome/.Main","action":"android.intent.action.VIEW","host":"Chia.Health"}
                    {"kind":"listener","port":4773,"actor":"app"}

                    """.utf8), name: "a.jsonl")
        #expect(file.sockets.count == 1)
        let socket = try #require(file.sockets.first)
        #expect(socket.process.source == .pcapd && socket.process.effectiveName == "MobileSafari")
        #expect(socket.process.processID == 12 && socket.process.userID == 501)
        #expect(socket.local.description.contains("41000") && socket.remote?.port == 443)
        #expect(socket.span.latest.nanoseconds(since: socket.span.earliest) == 27_000_000_000)
        #expect(file.activities.map(\.component) == ["com.android.chrome/.Main"])
        #expect(file.activities.first?.host?.text == "chia.health")
        #expect(file.activities.first?.origin == "a.jsonl:3")
        #expect(file.activities.first?.span.earliest.rfc3339 == "2026-11-30T00:50:33.400000000Z")
        #expect(file.listeners == [4_773: "app"])
    }

    @Test func aSocketsSourceIsATableUnlessSaid() throws {
        #expect(try file(Self.socket).sockets.first?.process.source == .socketTable)
    }

    @Test(arguments: [
        ("{", "a.jsonl:2:2: the text ends inside a value"), ("[1]", "a.jsonl:2: is no JSON object"),
        ("{}", "needs \"kind\""), (#"{"kind":7}"#, "\"kind\" must be a text of 1 to 512 bytes"),
        (#"{"kind":"sockets"}"#, "unknown kind \"sockets\"; did you mean \"socket\"?"),
        (#"{"kind":"socket"}"#, "needs \"local\""),
        (#"{"kind":"socket","local":"10.0.0.2"}"#, "\"local\" must be an address and port such as"),
        (#"{"kind":"socket","local":"phone:80"}"#, "not \"phone:80\""),
        (#"{"kind":"socket","local":"10.0.0.2:1"}"#, "needs \"process\""),
        (#"{"kind":"socket","local":"10.0.0.2:1","process":"a"}"#, "needs \"at\""),
        (
            #"{"kind":"socket","local":"10.0.0.2:1","process":"a","at":"yesterday"}"#,
            "\"at\" must be a time with a zone"
        ),
        (
            #"{"kind":"socket","local":"10.0.0.2:1","process":"a","at":"2026-11-30T01:50:33Z","until":"2026-11-30T01:50:32Z"}"#,
            "\"until\" lies before \"at\""
        ),
        (
            #"{"kind":"socket","local":"10.0.0.2:1","process":"a","at":"2026-11-30T01:50:33Z","uid":"x"}"#,
            "\"uid\" must be a whole number"
        ),
        (
            #"{"kind":"socket","local":"10.0.0.2:1","process":"a","at":"2026-11-30T01:50:33Z","source":"ps"}"#,
            "\"source\" must be \"pcapd\" or \"socket-table\", not \"ps\""
        ),
        (
            #"{"kind":"activity","at":"2026-11-30T01:50:33Z","component":"chrome"}"#,
            "\"component\" must be PACKAGE/CLASS"
        ),
        (
            #"{"kind":"socket","local":"10.0.0.2:1","process":"a","at":"2026-11-30T01:50:33Z","protocol":"icmp"}"#,
            "\"protocol\" must be \"tcp\" or \"udp\", not \"icmp\""
        ),
        (#"{"kind":"listener","port":0,"actor":"app"}"#, "needs \"port\", a number from 1 to 65535"),
        (#"{"kind":"listener","port":65536,"actor":"app"}"#, "needs \"port\""),
        (#"{"kind":"listener","port":1,"actor":"phone"}"#, "\"actor\" must be \"app\" or \"browser\", not \"phone\""),
    ]) func faultsNameFileAndLine(line: String, message: String) throws {
        let error = #expect(throws: TraceError.self) { try file(Self.socket, line) }
        #expect(error?.description.hasPrefix("a.jsonl:2") ?? false, "\(line): \(error?.description ?? "")")
        #expect(error?.description.contains(message) ?? false, "\(line): \(error?.description ?? "")")
        #expect(error?.description.hasSuffix("; mend the line or leave it out") ?? false)
    }

    // MARK: joining

    private func connection(
        _ id: Int = 0, client: String = "10.0.0.2:41000", server: String = "10.0.0.1:443", after seconds: Double = 0,
        enclosing: Int? = nil, process: ProcessIdentity? = nil, transport: Connection.Transport = .tcp,
        interface: String? = nil
    ) -> Connection {
        func endpoint(_ text: String) -> Endpoint {
            let parsed = HostName.parse(authority: text)
            return Endpoint(address: parsed?.host.address ?? IPAddress(ipv4: 0), port: parsed?.port ?? 0)
        }
        return Connection(
            id: ConnectionID(id), transport: enclosing == nil ? transport : .tunnel, client: endpoint(client),
            server: endpoint(server),
            opened: PacketReference(
                number: 1, time: Self.start.advanced(byNanoseconds: Int64(seconds * 1_000_000_000))),
            startSeen: true, process: process, enclosing: enclosing.map { ConnectionID($0) },
            interface: interface)
    }

    private static func owner(_ name: String, at time: String, remote: String? = nil) -> String {
        let remote = remote.map { #","remote":"\#($0)""# } ?? ""
        return
            #"{"kind":"socket","at":"2026-11-30T01:\#(time)Z","local":"10.0.0.2:41000"\#(remote),"process":"\#(name)"}"#
    }

    @Test func theSameEndsAtTheSameTimeAreJoined() throws {
        var join = ActorJoin([try file(Self.socket)])
        #expect(join.owner(connection())?.name == "com.android.chrome")
        #expect(join.owner(connection(client: "10.0.0.2:41001")) == nil)
        #expect(join.owner(connection(client: "10.0.0.3:41000")) == nil)
    }

    /// One millisecond either side of the bounds: half a minute after the start; before it, what clocks differ by.
    @Test func timeBoundsTheJoin() throws {
        var join = ActorJoin([try file(Self.socket)])
        #expect(join.owner(connection(after: -30)) != nil)
        #expect(join.owner(connection(after: -30.001)) == nil)
        #expect(join.owner(connection(after: 2)) != nil)
        #expect(join.owner(connection(after: 2.001)) == nil, "an earlier socket with the same port")
        let long = Self.socket.replacingOccurrences(of: #","local""#, with: #","until":"2026-11-30T01:51:03Z","local""#)
        join = ActorJoin([try file(long)])
        #expect(join.owner(connection(after: 31)) != nil, "inside the span")
    }

    @Test func theNearestOwnerOfAPortCounts() throws {
        var join = ActorJoin([try file(Self.owner("a", at: "50:44"), Self.owner("b", at: "50:34"))])
        #expect(join.owner(connection())?.name == "b")
        join = ActorJoin([try file(Self.owner("b", at: "50:34"), Self.owner("a", at: "50:44"))])
        #expect(join.owner(connection())?.name == "b")
        #expect(join.owner(connection(after: 9))?.name == "a")
    }

    @Test func ownersThatContradictSayNothing() throws {
        var join = ActorJoin([try file(Self.owner("a", at: "50:36"), Self.owner("b", at: "50:36"))])
        #expect(join.owner(connection()) == nil)
        join = ActorJoin([try file(Self.owner("a", at: "50:36"), Self.owner("a", at: "50:36"))])
        #expect(join.owner(connection())?.name == "a")
        join = ActorJoin([
            try file(Self.owner("a", at: "50:36"), Self.owner("b", at: "50:36"), Self.owner("c", at: "50:34"))
        ])
        #expect(join.owner(connection())?.name == "c", "a nearer one decides")
    }

    /// TCP and UDP have ports of their own: whose a TCP socket is says nothing of a DNS query from the same port.
    @Test(arguments: [
        ("", Connection.Transport.tcp, true), ("", .udp, false), ("", .quic, false),
        (#","protocol":"tcp""#, .tcp, true), (#","protocol":"udp""#, .tcp, false), (#","protocol":"udp""#, .udp, true),
        (#","protocol":"udp""#, .quic, true),
    ]) func aSocketIsOfItsOwnProtocol(member: String, transport: Connection.Transport, isJoined: Bool) throws {
        let line = Self.socket.replacingOccurrences(of: #","process""#, with: "\(member),\"process\"")
        var join = ActorJoin([try file(line)])
        #expect((join.owner(connection(transport: transport)) != nil) == isJoined)
    }

    @Test func theOtherEndCountsWhereItIsKnown() throws {
        var join = ActorJoin([
            try file(
                Self.owner("a", at: "50:33", remote: "10.0.0.9:443"),
                Self.owner("b", at: "50:36", remote: "10.0.0.1:443"))
        ])
        #expect(join.owner(connection())?.name == "b")
    }

    @Test func aTunnelHasTheOwnerOfTheConnectionAroundIt() throws {
        var join = ActorJoin([try file(Self.socket)])
        #expect(join.owner(connection(1, enclosing: 0)) == nil)
        _ = join.owner(connection(0))
        #expect(join.owner(connection(1, enclosing: 0))?.name == "com.android.chrome")
        join.close(ConnectionID(0))
        #expect(join.owner(connection(2, enclosing: 0)) == nil)
    }

    @Test func listenersTellWhereNoSocketDoes() throws {
        var join = ActorJoin([try file(#"{"kind":"listener","port":443,"actor":"browser"}"#)])
        let accepted = connection(interface: "handoff-proxy")
        #expect(join.owner(accepted, isOwnRecording: true)?.source == .listener)
        #expect(join.owner(accepted, isOwnRecording: true)?.name == "browser")
        let elsewhere = connection(server: "10.0.0.1:444", interface: "handoff-proxy")
        #expect(join.owner(elsewhere, isOwnRecording: true) == nil)
        join = ActorJoin([try file(Self.socket, #"{"kind":"listener","port":443,"actor":"app"}"#)])
        #expect(join.owner(accepted, isOwnRecording: true)?.name == "com.android.chrome")
    }

    /// The proxy's port is a number like another one wherever the proxy did not accept the connection.
    @Test func aListenersPortMeansNothingElsewhere() throws {
        var join = ActorJoin([try file(#"{"kind":"listener","port":53,"actor":"app"}"#)])
        let query = connection(server: "10.0.0.1:53", transport: .udp, interface: "handoff-proxy")
        #expect(join.owner(query, isOwnRecording: true) == nil, "a DNS query")
        let passive = connection(server: "10.0.0.1:53", interface: "eth0")
        #expect(join.owner(passive, isOwnRecording: true) == nil, "captured beside the proxy")
        let foreign = connection(server: "10.0.0.1:53", interface: "handoff-proxy")
        #expect(join.owner(foreign) == nil, "a capture of somebody else's")
        #expect(join.owner(foreign, isOwnRecording: true)?.name == "app")
    }

    @Test func oneListenerIsOneActors() throws {
        let app = #"{"kind":"listener","port":4773,"actor":"app"}"#
        let browser = #"{"kind":"listener","port":4773,"actor":"browser"}"#
        let error = #expect(throws: TraceError.self) { try file(app, app, browser) }
        #expect(
            error?.description
                == "a.jsonl:3: port 4773 is the app's by an earlier line, and can't be the browser's too; mend the line or leave it out"
        )
        var join = ActorJoin([try file(app), try file(browser)])
        let accepted = connection(server: "10.0.0.1:4773", interface: "handoff-proxy")
        #expect(join.owner(accepted, isOwnRecording: true) == nil, "two files that contradict")
    }

    @Test func whatTheCaptureSaysGoesBefore() throws {
        var join = ActorJoin([try file(Self.socket)])
        let own = ProcessIdentity(source: .pktap, name: "MobileSafari")
        #expect(join.owner(connection(process: own)) == nil)
    }

    @Test func activitiesComeInOrderOfTime() throws {
        let join = ActorJoin([
            try file(
                #"{"kind":"activity","at":"2026-11-30T01:50:35Z","component":"b/.B"}"#,
                #"{"kind":"activity","at":"2026-11-30T01:50:34Z","component":"a/.A"}"#)
        ])
        #expect(join.activities.map(\.component) == ["a/.A", "b/.B"])
        #expect(join.isEmpty, "no connection gets an owner by these")
    }
}

extension ActorJoin {
    fileprivate mutating func owner(_ connection: Connection, isOwnRecording: Bool = false) -> ProcessIdentity? {
        process(of: connection, isOwnRecording: isOwnRecording)
    }
}
