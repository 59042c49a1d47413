import Foundation
import Testing

@testable import CommandLine

/// What a filter can't mean is found before anything is read, and no name in it is looked up.
@Suite struct FilterWordTests {
    static let share = Places.recordings.appending(path: "conforming-share.pcapng").path

    @Test(arguments: [
        ("port 99999", "99999"), ("host 1.2.3.999", "1.2.3.999"), ("tcp[99999999999] = 1", "overflows"),
        ("len > 99999999999", "overflows"), ("vlan 99999", "99999"), ("port nosuchservice", "nosuchservice"),
        ("host partner.example", "'partner.example'"), ("partner", "'partner'"), ("net intranet", "'intranet'"),
        ("src localhost or dst localhost", "'localhost'"), ("tcp port 443 and dst host chia.health", "'chia.health'"),
        ("port http and src gateway", "'gateway'"), ("host 10.0.0.1 or box", "'box'"),
        ("ether host printer", "'printer'"),
        ("not (host 10.0.0.1 || 4chan.example)", "'4chan.example'"), ("host \\tcp", "'tcp'"),
    ])
    func isWrongUsage(filter: String, word: String) {
        for command in ["check", "show"] {
            let run = CommandRun([command, "--filter", filter, "/no/such.pcap"])
            #expect(run.status == .usage && run.talk.contains(word), "\(run.talk)")
            #expect(run.talk.split(separator: "\n").count == 1)
        }
    }

    @Test(arguments: [
        "tcp port 443 or udp port 53", "host 10.77.0.20 and not port https", "port http or https", "net 10.77.0.0/24",
        "host 2001:db8::1 or host beef::1", "ether host aa:bb:cc:dd:ee:ff", "tcp[tcpflags] & (tcp-syn|tcp-fin) != 0",
        "icmp[icmptype] != icmp-echoreply", "portrange 80-90", "ip proto \\tcp", "ether proto \\ip or ip6", "less 128",
        "ip[0] & 0xf != 5 and len - 4 > 8", "wlan type mgt subtype beacon", "wlan addr1 aa:bb:cc:dd:ee:ff", "inbound",
        "vlan and tcp", "tcp dst port 443", "src net 10.77 and dst host 10.77.0.20", "broadcast or multicast",
        "ether host aabb.ccdd.eeff or ether host aa-bb-cc-dd-ee-ff", "net 10.0.0.0 mask 255.0.0.0", "tcp port ssh", "",
    ])
    func isTaken(filter: String) {
        let run = CommandRun(["check", "--filter", filter, "/no/such.pcap"])
        #expect(run.status == .unreadable && run.talk.contains("No such file"), "\(run.talk)")
    }

    @Test func itsLengthHasALimit() {
        let terms = (0..<15_000).map { "host 10.\($0 >> 16).\($0 >> 8 & 255).\($0 & 255)" }
        let run = CommandRun(["check", "--filter", terms.joined(separator: " or "), Self.share])
        #expect(run.status == .usage && run.talk.split(separator: "\n").count == 1)
        #expect(run.talk.utf8.count < 300 && run.talk.contains("at most"), "\(run.talk.prefix(300))")
        for (length, isTaken) in [(4_096, true), (4_097, false)] {
            let filter = "tcp" + String(repeating: " ", count: length - 3)
            let run = CommandRun(["check", "--filter", filter, "/no/such.pcap"])
            #expect(run.status == (isTaken ? .unreadable : .usage), "\(length)")
        }
        let some = CommandRun(["check", "--filter", terms.prefix(150).joined(separator: " or "), "/no/such.pcap"])
        #expect(some.status == .unreadable)
    }
}
