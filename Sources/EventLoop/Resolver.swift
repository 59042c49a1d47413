public import SessionTrace

/// Why a name has no addresses.
public enum ResolverError: Error, Hashable, Sendable, CustomStringConvertible {
    /// It is no host name: empty, too long, with a zone, or with bytes no name has.
    case notAName
    /// The name does not exist, or has no address of that family.
    case notFound
    /// No name server answered.
    case tryAgain
    /// The task was cancelled, or the loop stopped.
    case cancelled
    /// Anything else, in the system's words.
    case failed(String)

    public var description: String {
        switch self {
        case .notAName: "not a host name"
        case .notFound: "the name has no address"
        case .tryAgain: "no name server answered"
        case .cancelled: "cancelled"
        case .failed(let reason): reason
        }
    }
}

/// Host names to addresses, as the system resolves them (hosts file, name servers), on libuv's threads.
public enum Resolver {
    /// Which addresses are wanted.
    public enum Family: Hashable, Sendable {
        case any, ipv4, ipv6
    }

    /// The longest name in bytes (RFC 1035 §2.3.4), without a final dot.
    public static let nameLimit = 253
    /// Addresses used of one answer; the rest is dropped.
    public static let addressLimit = 32

    /// The addresses of `name`, in the system's order of preference (RFC 6724), without duplicates, at most `addressLimit`.
    ///
    /// An address literal (also in brackets) is answered here and never goes to the resolver. Names that end in a number
    /// ("127.1", "0x7f.1") are refused as no names: the system would read them as addresses.
    public nonisolated(nonsending) static func addresses(
        of name: String, port: UInt16, family: Family = .any
    ) async throws(ResolverError) -> [Endpoint] {
        switch try reading(name) {
        case .address(let address):
            let isWanted = family == .any || address.isIPv4 == (family == .ipv4)
            guard isWanted else { throw .notFound }
            return [Endpoint(address: address, port: port)]
        case .name(let name):
            guard let loop = EventLoop.current ?? EventLoop.shared else {
                throw .failed("no event loop can be started")
            }
            let lookup = Lookup(name, family, on: loop)
            let addresses = try await lookup.addresses(isolation: #isolation).get()
            return addresses.prefix(addressLimit).map { Endpoint(address: $0, port: port) }
        }
    }

    enum Reading: Hashable {
        case address(IPAddress)
        case name(String)
    }

    static func reading(_ text: String) throws(ResolverError) -> Reading {
        var name = text[...]
        if name.hasPrefix("["), name.hasSuffix("]") {
            guard let address = IPAddress(String(name.dropFirst().dropLast())), !address.isIPv4 else {
                throw .notAName
            }
            return .address(address)
        }
        if let address = IPAddress(text) { return .address(address) }
        if name.hasSuffix(".") { name = name.dropLast() }
        guard !name.isEmpty, name.utf8.count <= nameLimit else { throw .notAName }
        // Above 0x7F are internationalised names, which libuv turns into their ASCII form.
        let isClean = name.utf8.allSatisfy { byte in
            byte > 0x7F || (0x61...0x7A).contains(byte) || (0x41...0x5A).contains(byte)
                || (0x30...0x39).contains(byte)
                || byte == 0x2D || byte == 0x2E || byte == 0x5F
        }
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        guard isClean, labels.allSatisfy({ !$0.isEmpty && $0.utf8.count <= 63 }), let last = labels.last
        else {
            throw .notAName
        }
        let isNumber = last.utf8.allSatisfy { (0x30...0x39).contains($0) }
        let isHexadecimal =
            last.lowercased().hasPrefix("0x") && last.utf8.dropFirst(2).allSatisfy { isHexDigit($0) }
        guard !isNumber, !isHexadecimal else { throw .notAName }
        return .name(String(name))
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte | 0x20)
    }
}

/// One look-up on its way. A cancelled one answers at once; the thread that is busy with it ends unheard.
private final class Lookup: @unchecked Sendable {
    // Sendable: `continuation` and `request` are touched only on the loop's thread, in work handed to it.
    private let name: String
    private let family: Resolver.Family
    private let loop: EventLoop
    private var request: LibUVResolution?
    private var continuation: UnsafeContinuation<Result<[IPAddress], ResolverError>, Never>?
    private var ticket: UInt64 = 0

    init(_ name: String, _ family: Resolver.Family, on loop: EventLoop) {
        self.name = name
        self.family = family
        self.loop = loop
    }

    func addresses(isolation: isolated (any Actor)?) async -> Result<[IPAddress], ResolverError> {
        await withTaskCancellationHandler(
            operation: {
                _ = isolation
                return await withUnsafeContinuation(isolation: isolation) { continuation in
                    loop.execute { self.start(continuation) }
                }
            },
            onCancel: { loop.execute { self.cancel() } }, isolation: isolation)
    }

    private var isCancelled = false

    private func start(_ continuation: UnsafeContinuation<Result<[IPAddress], ResolverError>, Never>) {
        guard !isCancelled, !loop.isStopping else {
            continuation.resume(returning: .failure(.cancelled))
            return
        }
        self.continuation = continuation
        ticket = loop.ticket()
        loop.onStop(ticket) { self.cancel() }
        request = loop.uv.resolve(name, family: family) { self.finish($0) }
    }

    private func cancel() {
        isCancelled = true
        request?.cancel()
    }

    private func finish(_ result: Result<[IPAddress], ResolverError>) {
        loop.forgetOnStop(ticket)
        request = nil
        let continuation = self.continuation
        self.continuation = nil
        continuation?.resume(returning: result)
    }
}
