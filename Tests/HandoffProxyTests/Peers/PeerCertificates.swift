import Foundation
import Testing

@testable import HandoffProxy

/// An authority for real origins and the certificates that it signed, as PEM files, made once a run by the openssl tool.
final class PeerCertificates: Sendable {
    private let scratch: ScratchFolder

    /// The set that all tests use; nil where openssl is not installed.
    static let shared: PeerCertificates? = try? PeerCertificates()

    /// The authority's certificate.
    var authority: String { scratch["ca.pem"] }

    /// A certificate and its key in one file. Made: `origin` (`origin.test`), `wrong` (another name), `expired`, `self`
    /// (signed by itself), `client` (for clients), `rsa` (an RSA key).
    func file(_ name: String) -> String { scratch["\(name).pem"] }

    private init() throws {
        scratch = try ScratchFolder()
        let script = #"""
            set -e; cd "$0"
            ec="-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"
            openssl req -x509 $ec -keyout ca.key -out ca.pem -subj /CN=origins -days 3 \
                -addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign
            leaf() { # name days usage san key
                printf 'subjectAltName=%s\nextendedKeyUsage=%s\n' "$4" "$3" > $1.ext
                openssl req $5 -keyout $1.key -out $1.csr -subj /CN=$1
                openssl x509 -req -in $1.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days $2 -extfile $1.ext -out $1.crt
                cat $1.crt $1.key > $1.pem
            }
            leaf origin 2 serverAuth 'DNS:origin.test,DNS:*.origin.test,IP:127.0.0.1' "$ec"
            leaf wrong 2 serverAuth DNS:elsewhere.test "$ec"
            leaf expired -1 serverAuth DNS:origin.test "$ec"
            leaf rsa 2 serverAuth DNS:origin.test '-newkey rsa:2048 -nodes'
            leaf client 2 clientAuth DNS:device.test "$ec"
            openssl req -x509 $ec -keyout self.key -out self.crt -subj /CN=self -days 2 -addext subjectAltName=DNS:origin.test
            cat self.crt self.key > self.pem
            """#
        guard try FinishedCommand("/bin/sh", ["-c", script, scratch.path]).status == 0 else {
            throw POSIXError(.ENOENT)
        }
    }
}

extension ProxyConfiguration {
    /// Trusts the authority of real origins beside the one that is there already.
    mutating func trust(_ certificates: PeerCertificates) throws {
        guard let path = upstreamAuthorities, let file = FileHandle(forWritingAtPath: path) else { return }
        defer { try? file.close() }
        try file.seekToEnd()
        try file.write(contentsOf: Data(contentsOf: URL(filePath: certificates.authority)))
    }
}

/// A server that a test started as a process, on a port of 127.0.0.1.
final class PeerServer {
    let port: UInt16
    private let process: SpawnedProcess

    /// Starts `command` in a shell (`$PORT` is where it shall listen) and waits until it accepts connections.
    init(_ command: String, environment: [String: String] = [:]) throws {
        let port = try Self.freePort()
        self.port = port
        process = try SpawnedProcess(
            "/bin/sh", ["-c", "exec " + command], environment: environment.merging(["PORT": "\(port)"]) { $1 })
        for _ in 0..<1_500 {
            if let socket = try? BlockingSocket(port: port) {
                socket.close()
                return
            }
            usleep(20_000)
        }
        throw POSIXError(.ETIMEDOUT)
    }

    deinit { process.kill() }

    /// A port that nothing listened on a moment ago, below those that the kernel gives to connections and to servers that
    /// leave the choice to it.
    static func freePort() throws -> UInt16 {
        for _ in 0..<100 {
            let port = UInt16.random(in: 15_000..<32_000)
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            defer { close(descriptor) }
            var address = BlockingSocket.loopback(port)
            let isBound = withUnsafeMutablePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
                }
            }
            if isBound { return port }
        }
        throw POSIXError(.EADDRINUSE)
    }
}

/// Runs a shell script with these variables, its errors among its output, for at most `seconds`.
func shell(_ script: String, _ environment: [String: String] = [:], seconds: Int = 60) async throws -> FinishedCommand {
    try await onThread {
        let child = try SpawnedProcess(
            "/usr/bin/timeout", ["\(seconds)", "/bin/sh", "-c", "exec 2>&1\n" + script], environment: environment)
        return FinishedCommand(finished: child)
    }
}
