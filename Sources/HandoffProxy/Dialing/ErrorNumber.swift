internal import Glibc

/// The kernel's error numbers that the proxy tells apart beside those that `SocketError` names.
enum ErrorNumber {
    /// No way to the address, or none from here.
    static let unreachable: Set<Int32> = [ENETUNREACH, EHOSTUNREACH, ENETDOWN, EHOSTDOWN, EADDRNOTAVAIL, EAFNOSUPPORT]
    /// The waiting task was cancelled.
    static let cancelled = ECANCELED
}
