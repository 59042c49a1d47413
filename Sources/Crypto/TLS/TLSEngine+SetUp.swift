/// From options to an `SSL` that is ready for its handshake.
internal import COpenSSL
internal import SessionTrace

extension TLSEngine {
    func setUp(_ options: TLSServerOptions) throws(TLSFailure) {
        try setVersions(options.minimumVersion, options.maximumVersion)
        let identity = options.identity
        let done = withCleanErrorQueue {
            SSL_use_cert_and_key(ssl, identity.leaf.pointer, identity.key.pointer, nil, 1)
        }
        guard done == 1 else { throw TLSFailure(.configuration, "certificate and key don't belong together") }
        if let alpn = options.alpn {
            guard (1...255).contains(alpn.count) else {
                throw TLSFailure(.configuration, "the name of an ALPN protocol has 1 to 255 bytes")
            }
            let memory = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: alpn.count)
            _ = memory.initialize(from: alpn)
            state.pointee.chosenProtocol = memory
        }
        SSL_set_accept_state(ssl)
    }

    func setUp(_ options: TLSClientOptions) throws(TLSFailure) {
        try setVersions(options.minimumVersion, options.maximumVersion)
        if let name = options.serverName {
            let done = name.withCString {
                SSL_ctrl(
                    ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, Int(TLSEXT_NAMETYPE_host_name),
                    UnsafeMutableRawPointer(mutating: $0))
            }
            guard done == 1, !name.utf8.contains(0) else {
                throw TLSFailure(.configuration, "\(printable(name)) can't be a server name (SNI)")
            }
        }
        if let name = options.verifyName, options.verification != .none {
            let parameters = SSL_get0_param(ssl)
            X509_VERIFY_PARAM_set_hostflags(
                parameters,
                UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS) | UInt32(X509_CHECK_FLAG_NEVER_CHECK_SUBJECT))
            let done =
                IPAddress(name) == nil
                ? X509_VERIFY_PARAM_set1_host(parameters, name, name.utf8.count)
                : X509_VERIFY_PARAM_set1_ip_asc(parameters, name)
            guard done == 1, !name.isEmpty else {
                throw TLSFailure(.configuration, "\(printable(name)) can't be the name in a certificate")
            }
        }
        if !options.alpn.isEmpty {
            guard Self.isALPNList(options.alpn),
                SSL_set_alpn_protos(ssl, options.alpn, UInt32(options.alpn.count)) == 0
            else { throw TLSFailure(.configuration, "the list of ALPN protocols is malformed") }
        }
        if let identity = options.clientCertificate { try identity.use(on: ssl) }
        if let store = options.resumption {
            let key = TLSSessionStore.Key(
                serverName: options.serverName, verifyName: options.verifyName, verification: options.verification,
                alpn: options.alpn, versions: options.minimumVersion...options.maximumVersion,
                clientCertificate: options.clientCertificate?.certificate, place: options.place)
            // Takes a reference of its own; a session that libssl does not accept only costs the full handshake.
            if let session = store.session(for: key) { SSL_set_session(ssl, session.pointer) }
            state.pointee.sessionSink = SessionSink(store: store, key: key)
        }
        SSL_set_connect_state(ssl)
    }

    private func setVersions(_ minimum: TLSVersion, _ maximum: TLSVersion) throws(TLSFailure) {
        let done =
            minimum <= maximum && SSL_ctrl(ssl, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(minimum.rawValue), nil) == 1
            && SSL_ctrl(ssl, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(maximum.rawValue), nil) == 1
        guard done else { throw TLSFailure(.configuration, "\(minimum) to \(maximum) is no range of versions") }
    }

    /// Names of 1 to 255 bytes, each after its length, filling the list exactly (RFC 7301 §3.1).
    private static func isALPNList(_ list: [UInt8]) -> Bool {
        var index = 0
        while index < list.count {
            guard list[index] > 0 else { return false }
            index += 1 + Int(list[index])
        }
        return index == list.count && list.count <= 65_535
    }
}

/// A name from outside, safe to print: what is not printable ASCII becomes `?`.
func printable(_ name: String) -> String {
    String(decoding: name.utf8.prefix(253).map { (0x21...0x7E).contains($0) ? $0 : 0x3F }, as: UTF8.self)
}
