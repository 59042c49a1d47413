internal import CPcap
import WireFormats

/// A BPF expression, compiled by libpcap for each link type that turns up.
struct PacketFilter: ~Copyable {
    /// The expression as given.
    let expression: String
    private var linkTypes: [LinkType]
    /// One program for each of `linkTypes`; their instructions are libpcap's and freed with this value.
    private var programs: [bpf_program]

    /// The longest expression in bytes: libpcap's compiler takes a second for one as long as that, and the time grows faster than the length.
    static let longest = 4_096

    /// An expression is tried with these: one that fits none of them fits no packet.
    private static let tried: [LinkType] = [
        .ethernet, .ieee80211Radiotap, .linuxCooked, .raw,
        // PFLOG, SunATM, MTP2.
        LinkType(rawValue: 117), LinkType(rawValue: 123), LinkType(rawValue: 140),
    ]

    /// Takes an expression; one that is wrong whatever the link type is refused at once, and so is one that holds a name,
    /// which libpcap would look up.
    init(_ expression: String) throws(PacketFilterError) {
        let (linkType, program) = try Self.compile(expression)
        self.expression = expression
        linkTypes = [linkType]
        programs = [program]
    }

    deinit {
        for var program in programs { pcap_freecode(&program) }
    }

    /// Whether the expression takes the packet.
    mutating func accepts(_ packet: borrowing CapturedPacket) throws(PacketFilterError) -> Bool {
        let index: Int
        if let known = linkTypes.firstIndex(of: packet.linkType) {
            index = known
        } else {
            switch Self.compile(expression, for: packet.linkType) {
            case .success(let program): programs.append(program)
            case .failure(let error):
                throw PacketFilterError(
                    "filter '\(expression)' can't be applied to packets of link type \(packet.linkType.name): "
                        + error.words)
            }
            index = linkTypes.count
            linkTypes.append(packet.linkType)
        }
        guard let bytes = packet.bytes.baseAddress else { return false }
        // The instructions were verified by pcap_compile, and never read beyond the captured length that is passed.
        return bpf_filter(
            programs[index].bf_insns, bytes.assumingMemoryBound(to: UInt8.self),
            UInt32(clamping: packet.originalLength), UInt32(clamping: packet.bytes.count)) != 0
    }

    /// The program for the first link type that the expression fits.
    private static func compile(_ expression: String) throws(PacketFilterError) -> (LinkType, bpf_program) {
        guard expression.utf8.count <= longest else {
            throw PacketFilterError("the filter has \(expression.utf8.count) bytes, and may have at most \(longest)")
        }
        if let name = FilterName.first(in: expression) {
            throw PacketFilterError(
                "filter '\(expression)': '\(name)' is no word of pcap-filter(7) and no address, and names are not looked up"
            )
        }
        var words = ""
        for linkType in tried {
            switch compile(expression, for: linkType) {
            case .success(let program): return (linkType, program)
            case .failure(let error): if words.isEmpty { words = error.words }
            }
        }
        throw PacketFilterError("filter '\(expression)': \(words)")
    }

    private static func compile(
        _ expression: String, for linkType: LinkType
    ) -> Result<bpf_program, CompilerError> {
        guard let handle = pcap_open_dead(dataLinkType(of: linkType), 262_144) else {
            return .failure(CompilerError(words: "out of memory"))
        }
        defer { pcap_close(handle) }
        var program = bpf_program()
        guard pcap_compile(handle, &program, expression, 1, bpf_u_int32.max) == 0 else {
            return .failure(CompilerError(words: String(cString: pcap_geterr(handle))))
        }
        return .success(program)
    }

    /// libpcap's own number for a link type: files use other numbers for the few whose DLT_ differs between systems.
    private static func dataLinkType(of linkType: LinkType) -> Int32 {
        switch linkType.rawValue {
        case 100: DLT_ATM_RFC1483
        case 101: DLT_RAW
        case 102: DLT_SLIP_BSDOS
        case 103: DLT_PPP_BSDOS
        default: Int32(clamping: linkType.rawValue)
        }
    }
}

/// libpcap's words on an expression that it does not take.
private struct CompilerError: Error {
    let words: String
}

/// Why an expression can't be used.
struct PacketFilterError: Error, Hashable {
    /// What is wrong, for people.
    let reason: String

    init(_ reason: String) { self.reason = reason }
}
