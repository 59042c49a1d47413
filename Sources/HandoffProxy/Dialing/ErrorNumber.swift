internal import Glibc

/// The kernel's error numbers that the proxy tells apart beside those that `SocketError` names.
enum ErrorNumber {
    /// No way to the address, or none from here.
    static let unreachable: Set<Int32> = [ENETUNREACH, EHOSTUNREACH, ENETDOWN, EHOSTDOWN, EADDRNOTAVAIL, EAFNOSUPPORT]
    /// Bytes that break a protocol.
    static let protocolError = EPROTO
    /// Nobody answered in time.
    static let timedOut = ETIMEDOUT
    /// The waiting task was cancelled.
    static let cancelled = ECANCELED
}
