internal import CPcap
internal import Glibc
internal import SessionTrace
internal import WireFormats

/// One network interface being captured with libpcap, by one thread at a time.
final class LiveCapture: @unchecked Sendable {
    // Sendable: `droppedBefore` is set by `init` alone; `handle` is used by whoever opened it until the capturing thread
    // takes over, and by that thread alone from then on; libpcap's handles are not bound to a thread.
    private let handle: OpaquePointer
    /// The interface's name; `any` is all of them.
    let interface: String
    /// What its packets start with.
    let linkType: LinkType
    private let unitsPerTick: Int64
    private var droppedBefore: UInt64 = 0

    /// Bytes of the ring between kernel and us.
    private static let ringLength: Int32 = 8 << 20
    private static let snapLength: Int32 = 262_144
    /// How long the kernel may gather packets, in milliseconds.
    private static let gatherMilliseconds: Int32 = 50

    /// Opens an interface.
    init(_ interface: String) throws(RecordingError) {
        var words = [CChar](repeating: 0, count: Int(PCAP_ERRBUF_SIZE))
        guard let handle = pcap_create(interface, &words) else {
            throw Self.error(interface, Self.text(words))
        }
        pcap_set_snaplen(handle, Self.snapLength)
        pcap_set_timeout(handle, Self.gatherMilliseconds)
        pcap_set_buffer_size(handle, Self.ringLength)
        pcap_set_tstamp_precision(handle, Int32(PCAP_TSTAMP_PRECISION_NANO))
        let result = pcap_activate(handle)
        guard result >= 0 else {
            var reason = String(cString: pcap_geterr(handle))
            if reason.isEmpty { reason = String(cString: pcap_statustostr(result)) }
            if result == PCAP_ERROR_PERM_DENIED {
                reason = "not permitted; run as root or give the program CAP_NET_RAW"
            }
            pcap_close(handle)
            throw Self.error(interface, reason)
        }
        guard pcap_setnonblock(handle, 1, &words) == 0 else {
            pcap_close(handle)
            throw Self.error(interface, Self.text(words))
        }
        self.handle = handle
        self.interface = interface
        unitsPerTick = pcap_get_tstamp_precision(handle) == PCAP_TSTAMP_PRECISION_NANO ? 1 : 1_000
        // Numbers are the same in files and here, but for raw IP.
        let number = UInt32(bitPattern: pcap_datalink(handle))
        linkType = number == 12 || number == 14 ? .raw : LinkType(rawValue: number)
        // Nothing until the capture begins: no packet is as short as a byte.
        filter("less 1")
        droppedBefore = Self.dropped(handle)
    }

    deinit {
        pcap_close(handle)
    }

    /// Lets only packets through that match a BPF expression; false when the kernel or libpcap refuses it.
    @discardableResult
    func filter(_ expression: String) -> Bool {
        var program = bpf_program()
        guard pcap_compile(handle, &program, expression, 1, bpf_u_int32.max) == 0 else { return false }
        defer { pcap_freecode(&program) }
        return pcap_setfilter(handle, &program) == 0
    }

    /// Waits at most `milliseconds` for packets.
    func wait(_ milliseconds: Int32) {
        var watched = pollfd(fd: pcap_get_selectable_fd(handle), events: Int16(POLLIN), revents: 0)
        poll(&watched, 1, milliseconds)
    }

    /// Gives the packets that are there. Throws when the capture is over.
    func packets(
        _ receive: (UnsafeRawBufferPointer, _ originalLength: Int, Instant) -> Void
    ) throws(RecordingError) {
        let count = withoutActuallyEscaping(receive) { receive in
            // The sink lives on this frame's stack, and libpcap calls back only inside pcap_dispatch.
            var sink = Sink(unitsPerTick: unitsPerTick, receive: receive)
            return withUnsafeMutablePointer(to: &sink) { sink in
                pcap_dispatch(
                    handle, -1,
                    { context, header, bytes in
                        guard let context, let header = header?.pointee, let bytes else { return }
                        let sink = UnsafeRawPointer(context).assumingMemoryBound(to: Sink.self)
                        let seconds = Int64(header.ts.tv_sec)
                        let ticks = Int64(header.ts.tv_usec) &* sink.pointee.unitsPerTick
                        sink.pointee.receive(
                            UnsafeRawBufferPointer(start: bytes, count: Int(header.caplen)), Int(header.len),
                            Instant(nanoseconds: seconds &* 1_000_000_000 &+ ticks))
                    }, UnsafeMutableRawPointer(sink).assumingMemoryBound(to: UInt8.self))
            }
        }
        guard count >= 0 else { throw Self.error(interface, String(cString: pcap_geterr(handle))) }
    }

    /// Packets that were lost for want of room since the capture began.
    var droppedPackets: UInt64 { Self.dropped(handle) &- droppedBefore }

    private static func dropped(_ handle: OpaquePointer) -> UInt64 {
        var counts = pcap_stat()
        guard pcap_stats(handle, &counts) == 0 else { return 0 }
        return UInt64(counts.ps_drop)
    }

    private struct Sink {
        let unitsPerTick: Int64
        let receive: (UnsafeRawBufferPointer, Int, Instant) -> Void
    }

    private static func error(_ interface: String, _ reason: String) -> RecordingError {
        RecordingError(
            code: .capture, subject: interface, description: "\(interface) can't be captured: \(reason)")
    }

    private static func text(_ words: [CChar]) -> String {
        words.withUnsafeBufferPointer { words in words.baseAddress.map { String(cString: $0) } ?? "" }
    }
}
