internal import Crypto

/// What is told of an origin whose TLS failed: to the person at the terminal in words, to the device as an alert.
enum UpstreamFailureWords {
    /// The alert for the device.
    ///
    /// What the origin itself said is passed on: the device would have got it without us. When it is we who refuse the
    /// origin (its certificate, its protocol) or it says nothing at all, the alert is internal_error: one that no client
    /// takes for a verdict about itself, or for a hint to try again with an older version.
    static func alert(for error: TLSEndError) -> UInt8 {
        guard case .tls(let failure) = error, failure.kind == .peerAlert, let alert = failure.alert,
            passedOn.contains(alert)
        else { return internalError }
        return alert
    }

    private static let internalError: UInt8 = 80

    /// Alerts by which a server answers a hello: handshake_failure, insufficient_security, protocol_version,
    /// inappropriate_fallback, missing_extension, unsupported_extension, unrecognized_name, certificate_required,
    /// no_application_protocol, access_denied.
    private static let passedOn: Set<UInt8> = [40, 49, 70, 71, 86, 109, 110, 112, 116, 120]

    /// What to do about it; nil when nothing is known to help.
    static func fix(for error: TLSEndError, name: String, hasClientIdentity: Bool) -> String? {
        guard case .tls(let failure) = error else { return nil }
        switch failure.kind {
        case .verification:
            return
                "If this is a test server, name its authority with --upstream-ca FILE, or --insecure-upstream \(name)."
        case .peerAlert where failure.alert == 116 || (failure.alert == 40 && !hasClientIdentity):
            return hasClientIdentity
                ? "The server does not accept the certificate of --client-cert."
                : "If the server wants a client certificate: --client-cert \(name)=FILE."
        case .peerAlert where [42, 43, 44, 45, 46, 48].contains(failure.alert) && hasClientIdentity:
            return "The server does not accept the certificate of --client-cert."
        case .peerAlert, .protocolViolation, .truncated, .configuration, .limit, .other:
            return nil
        }
    }
}
