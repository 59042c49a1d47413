internal import CPcap
import WireFormats

/// A BPF expression, compiled by libpcap for each link type that turns up.
struct PacketFilter: ~Copyable {
    /// The expression as given.
    let expression: String
    private var linkTypes: [LinkType] = []
    /// One program for each of `linkTypes`; their instructions are libpcap's and freed with this value.
    private var programs: [bpf_program] = []

    /// Takes an expression; one that is wrong whatever the link type is refused at once.
    init(_ expression: String) throws(PacketFilterError) {
        self.expression = expression
        let outcome = Self.compile(expression, for: .ethernet)
        switch outcome {
        case .success(let program):
            linkTypes.append(.ethernet)
            programs.append(program)
        case .failure(let error):
            // An expression about radio headers does not fit Ethernet; only what no link type can mend counts here.
            if error.words.contains("syntax") { throw error }
        }
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
            programs.append(try Self.compile(expression, for: packet.linkType).get())
            index = linkTypes.count
            linkTypes.append(packet.linkType)
        }
        guard let bytes = packet.bytes.baseAddress else { return false }
        // The instructions were verified by pcap_compile, and never read beyond the captured length that is passed.
        return bpf_filter(
            programs[index].bf_insns, bytes.assumingMemoryBound(to: UInt8.self),
            UInt32(clamping: packet.originalLength), UInt32(clamping: packet.bytes.count)) != 0
    }

    private static func compile(
        _ expression: String, for linkType: LinkType
    ) -> Result<bpf_program, PacketFilterError> {
        guard let handle = pcap_open_dead(dataLinkType(of: linkType), 262_144) else {
            return .failure(PacketFilterError(expression: expression, linkType: linkType, words: "out of memory"))
        }
        defer { pcap_close(handle) }
        var program = bpf_program()
        guard pcap_compile(handle, &program, expression, 1, bpf_u_int32.max) == 0 else {
            let words = String(cString: pcap_geterr(handle))
            return .failure(PacketFilterError(expression: expression, linkType: linkType, words: words))
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

/// Why an expression could not be compiled.
struct PacketFilterError: Error, Hashable {
    let expression: String
    let linkType: LinkType
    /// libpcap's words.
    let words: String

    /// What is wrong, for people.
    var reason: String {
        words.contains("syntax")
            ? "filter '\(expression)': \(words)"
            : "filter '\(expression)' can't be applied to packets of link type \(linkType.name): \(words)"
    }
}
