internal import SessionTrace

/// Finds the name in a BPF expression that libpcap would look up (DNS, /etc/hosts, /etc/networks, /etc/ethers): what a
/// filter takes must not hang on who answers, and whoever reads a trace must not tell others which hosts are in it.
///
///     expression → words, as libpcap's scanner cuts them → keyword | number or address | name of a service | name
struct FilterName {
    /// Whether a name may stand here: behind `port` and the like it is of a service or a protocol, and looked up in a file
    /// alone. What a word without a keyword means it has from those before it.
    private var takesNames = false
    /// The same for each parenthesis that is open: behind it, what held before it does.
    private var outer: [Bool] = []

    /// The first name of a host or network in `expression`; nil when there is none.
    static func first(in expression: String) -> String? {
        var search = FilterName()
        var rest = Array(expression.utf8)[...]
        while let byte = rest.first {
            if let name = search.take(byte, &rest) { return name }
        }
        return nil
    }

    /// Takes the word that begins here with `byte`; returns it when it is a name.
    private mutating func take(_ byte: UInt8, _ rest: inout ArraySlice<UInt8>) -> String? {
        switch byte {
        case UInt8(ascii: "("): outer.append(takesNames)
        case UInt8(ascii: ")"): takesNames = outer.popLast() ?? false
        case UInt8(ascii: "\\"):
            // What is escaped is no keyword.
            let word = text(rest.dropFirst().prefix { !" !()\n\t".utf8.contains($0) })
            rest = rest.dropFirst(1 + word.utf8.count)
            return takesNames || word.isEmpty ? nil : word
        default:
            if let count = addressLength(rest) {
                rest = rest.dropFirst(count)
                return nil
            }
            guard isAlphanumeric(byte) else { break }
            let word = text(rest.prefix { isAlphanumeric($0) || "-_.".utf8.contains($0) })
            let name = word.last.map { "-_".contains($0) } == true ? trimmed(word) : word
            rest = rest.dropFirst(name.utf8.count)
            return isName(name) ? name : nil
        }
        rest = rest.dropFirst()
        return nil
    }

    private mutating func isName(_ word: String) -> Bool {
        if Self.connectives.contains(word) { return false }
        if Self.keywords.contains(word) {
            takesNames = Self.takingNames.contains(word)
            return false
        }
        // `gateway` takes nothing but names.
        return word == "gateway" || !(takesNames || Self.isNumeric(word))
    }

    /// `10`, `0x1f`, `10.77.0.20`, or a hardware address without colons.
    private static func isNumeric(_ word: String) -> Bool {
        let parts = word.split(separator: ".", omittingEmptySubsequences: false)
        if parts.count <= 4, parts.allSatisfy(isNumber) { return true }
        if parts.count == 1, word.utf8.count == 12, isHexadecimal(word) { return true }
        if parts.count == 3, parts.allSatisfy({ $0.utf8.count == 4 && isHexadecimal($0) }) { return true }
        return isOctets(parts) || isOctets(word.split(separator: "-", omittingEmptySubsequences: false))
    }

    private static func isNumber(_ part: Substring) -> Bool {
        if part.hasPrefix("0x") || part.hasPrefix("0X") { return isHexadecimal(part.dropFirst(2)) }
        return !part.isEmpty && part.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }

    private static func isOctets(_ parts: [Substring]) -> Bool {
        parts.count == 6 && parts.allSatisfy { $0.utf8.count <= 2 && isHexadecimal($0) }
    }

    private static func isHexadecimal(_ text: some StringProtocol) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy(isHexadecimal)
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x46).contains(byte & 0xDF)
    }

    /// The length of the IPv6 or hardware address with colons that begins here; nil when none does.
    private func addressLength(_ rest: ArraySlice<UInt8>) -> Int? {
        let run = rest.prefix { Self.isHexadecimal($0) || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".") }
        guard run.contains(UInt8(ascii: ":")) else { return nil }
        let word = text(run)
        let isAddress =
            IPAddress(word) != nil || Self.isOctets(word.split(separator: ":", omittingEmptySubsequences: false))
        return isAddress ? run.count : nil
    }

    private func isAlphanumeric(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte & 0xDF)
    }

    private func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

    private func trimmed(_ word: String) -> String {
        var word = word
        while let last = word.last, "-_".contains(last) { word.removeLast() }
        return word
    }

    private static func words(_ text: String) -> Set<String> { Set(text.split(separator: " ").map(String.init)) }

    /// Words that leave the meaning of what follows as it is.
    private static let connectives = words("and or not")

    /// Keywords behind which a word is none of a host's or network's.
    private static let takingNames = words(
        "port portrange proto protochain type subtype dir direction llc on ifname rset ruleset reason action")

    /// The words of pcap-filter(7) in libpcap 1.10, `gateway` left out. One that is missing here is refused, not looked up.
    private static let keywords = takingNames.union(
        words(
            """
            dst src link ether ppp slip fddi tr wlan arp rarp ip sctp tcp udp icmp igmp igrp pim vrrp carp radio ip6 icmp6 \
            ah esp atalk aarp decnet lat sca moprc mopdl iso esis es-is isis is-is l1 l2 iih lsp snp csnp psnp clnp stp \
            ipx netbeui host net mask address1 address2 address3 address4 addr1 addr2 addr3 addr4 ra ta less greater byte \
            broadcast multicast len length inbound outbound ifindex vlan mpls pppoed pppoes geneve lane metac bcc oam \
            oamf4 oamf4ec oamf4sc sc ilmic vpi vci connectmsg metaconnect rnr rulenum srnr subrulenum fisu lssu lsu msu \
            hfisu hlssu hmsu sio opc dpc sls hsio hopc hdpc hsls icmptype icmpcode icmp-echoreply icmp-unreach \
            icmp-sourcequench icmp-redirect icmp-echo icmp-routeradvert icmp-routersolicit icmp-timxceed icmp-paramprob \
            icmp-tstamp icmp-tstampreply icmp-ireq icmp-ireqreply icmp-maskreq icmp-maskreply icmp6type icmp6code \
            icmp6-destinationunreach icmp6-packettoobig icmp6-timeexceeded icmp6-parameterproblem icmp6-echo \
            icmp6-echoreply icmp6-multicastlistenerquery icmp6-multicastlistenerreportv1 icmp6-multicastlistenerdone \
            icmp6-routersolicit icmp6-routeradvert icmp6-neighborsolicit icmp6-neighboradvert icmp6-redirect \
            icmp6-routerrenum icmp6-nodeinformationquery icmp6-nodeinformationresponse \
            icmp6-ineighbordiscoverysolicit icmp6-ineighbordiscoveryadvert icmp6-multicastlistenerreportv2 \
            icmp6-homeagentdiscoveryrequest icmp6-homeagentdiscoveryreply icmp6-mobileprefixsolicit \
            icmp6-mobileprefixadvert icmp6-certpathsolicit icmp6-certpathadvert icmp6-multicastrouteradvert \
            icmp6-multicastroutersolicit icmp6-multicastrouterterm tcpflags tcp-fin tcp-syn tcp-rst tcp-push tcp-ack \
            tcp-urg tcp-ece tcp-cwr
            """))
}
