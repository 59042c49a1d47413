/// Why a TLS connection ended, and the alerts of the protocol.

/// Why a TLS connection could not be made, or ended before its time.
public struct TLSFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// Whose fault it was.
    public enum Kind: Hashable, Sendable {
        /// The peer sent a fatal alert: its number is in `alert`.
        case peerAlert
        /// The peer's certificate was not accepted; `alert` is what the peer was told.
        case verification
        /// The peer's bytes break the protocol, or both sides have nothing in common.
        case protocolViolation
        /// The peer's bytes ended in the middle of the handshake.
        case truncated
        /// A file or an option can't be used: the caller's fault.
        case configuration
        /// A limit of the engine was crossed (named in the reason).
        case limit
        /// Anything else.
        case other
    }

    /// Whose fault it was.
    public var kind: Kind
    /// One sentence in plain words, without a full stop.
    public var reason: String
    /// The alert that was received (`peerAlert`) or sent (any other kind).
    public var alert: UInt8?
    /// libcrypto's code of a verification failure (`X509_V_ERR_…`, `openssl-verification-options(1)`).
    public var verificationCode: Int32?

    /// Makes a failure.
    public init(_ kind: Kind, _ reason: String, alert: UInt8? = nil, verificationCode: Int32? = nil) {
        self.kind = kind
        self.reason = reason
        self.alert = alert
        self.verificationCode = verificationCode
    }

    public var description: String { reason }
}

/// The alerts of TLS by number.
public enum TLSAlert {
    /// The name of an alert (RFC 8446 §6, RFC 5246 §7.2): `bad_certificate` for 42; `alert 99` for an unknown one.
    public static func name(_ description: UInt8) -> String {
        names[description] ?? "alert \(description)"
    }

    /// The record that carries a fatal alert in clear: right before any key is in use, as in answer to a ClientHello.
    /// 7 bytes. `version` is that of the record layer (0x0303 suits every client from TLS 1.0 on).
    public static func clearRecord(_ description: UInt8, version: UInt16 = 0x0303) -> [UInt8] {
        [21, UInt8(version >> 8), UInt8(version & 0xFF), 0, 2, 2, description]
    }

    private static let names: [UInt8: String] = [
        0: "close_notify", 10: "unexpected_message", 20: "bad_record_mac", 21: "decryption_failed",
        22: "record_overflow", 30: "decompression_failure", 40: "handshake_failure", 41: "no_certificate",
        42: "bad_certificate", 43: "unsupported_certificate", 44: "certificate_revoked", 45: "certificate_expired",
        46: "certificate_unknown", 47: "illegal_parameter", 48: "unknown_ca", 49: "access_denied", 50: "decode_error",
        51: "decrypt_error", 60: "export_restriction", 70: "protocol_version", 71: "insufficient_security",
        80: "internal_error", 86: "inappropriate_fallback", 90: "user_canceled", 100: "no_renegotiation",
        109: "missing_extension", 110: "unsupported_extension", 111: "certificate_unobtainable",
        112: "unrecognized_name", 113: "bad_certificate_status_response", 114: "bad_certificate_hash_value",
        115: "unknown_psk_identity", 116: "certificate_required", 120: "no_application_protocol",
    ]
}
