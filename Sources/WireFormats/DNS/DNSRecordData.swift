internal import SessionTrace

/// The data of the record types that say where a name leads (RFC 1035 §3.3, RFC 3596, RFC 9460, RFC 9849).
enum DNSRecordData {
    /// Reads the data that ends at `end`; data that does not fit its type is `.other`.
    static func read(type: UInt16, _ reader: inout DNSReader, end: Int) -> NameLookup.Answer.Data {
        let length = end - reader.offset
        switch type {
        case 1:
            guard length == 4, let bits = reader.doubleWord() else { return .other }
            return .address(IPAddress(ipv4: bits))
        case 28:
            guard length == 16, let first = reader.doubleWord(), let second = reader.doubleWord(),
                let third = reader.doubleWord(), let fourth = reader.doubleWord()
            else { return .other }
            return .address(
                IPAddress(
                    ipv6High: UInt64(first) << 32 | UInt64(second), low: UInt64(third) << 32 | UInt64(fourth)))
        case 5:
            guard let host = reader.name().host, reader.offset <= end else { return .other }
            return .alias(host)
        case 64, 65: return service(&reader, end: end)
        default: return .other
        }
    }

    /// SVCB and HTTPS: priority, target, parameters (RFC 9460 §2.2). What stands before a fault is kept.
    private static func service(_ reader: inout DNSReader, end: Int) -> NameLookup.Answer.Data {
        guard reader.skip(2) else { return .other }
        let target = reader.name()
        guard target.isWhole, reader.offset <= end else { return .other }
        var alpn: [String] = []
        var publicName: HostName?
        while reader.offset < end {
            guard let key = reader.word(), let length = reader.word(), reader.offset + Int(length) <= end,
                let value = reader.bytes(Int(length))
            else { break }
            switch key {
            case 1: alpn = applicationProtocols(value)
            case 5: publicName = Self.publicName(ofConfigurations: value)
            default: break
            }
        }
        return .service(target: target.host, alpn: alpn, echPublicName: publicName)
    }

    /// A list of length-prefixed protocol names (RFC 9460 §7.1.1).
    private static func applicationProtocols(_ value: UnsafeRawBufferPointer) -> [String] {
        var reader = DNSReader(value)
        var names: [String] = []
        while let length = reader.octet(), let name = reader.bytes(Int(length)) {
            names.append(String(decoding: name, as: UTF8.self))
        }
        return names
    }

    /// The public name of the first configuration of a known version in an ECHConfigList (RFC 9849 §4).
    private static func publicName(ofConfigurations value: UnsafeRawBufferPointer) -> HostName? {
        var reader = DNSReader(value)
        guard reader.skip(2) else { return nil }
        while let version = reader.word(), let length = reader.word(), let contents = reader.bytes(Int(length)) {
            guard version == 0xFE0D else { continue }
            var inner = DNSReader(contents)
            // config_id, kem_id, public_key, cipher_suites, maximum_name_length, public_name
            guard inner.skip(3), let key = inner.word(), inner.skip(Int(key)), let suites = inner.word(),
                inner.skip(Int(suites)), inner.skip(1), let nameLength = inner.octet(),
                let name = inner.bytes(Int(nameLength))
            else { continue }
            return HostName(String(decoding: name, as: UTF8.self))
        }
        return nil
    }
}
