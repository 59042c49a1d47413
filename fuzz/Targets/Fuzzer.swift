/// The fuzzer: libFuzzer gives bytes, one target takes them. Any trap, AddressSanitizer report, failed check or timeout
/// is a finding. `FUZZ_TARGET` names the target; `fuzz/run.sh` sets it.
import Foundation

/// A target takes any bytes at all and must return.
typealias Target = @Sendable (UnsafeRawBufferPointer) -> Void

/// All targets by name.
let targets: [String: Target] = [
    "capture-file": fuzzCaptureFile,
    "packets": fuzzPackets,
    "pipeline": fuzzPipeline,
    "tls": fuzzTLS,
    "quic": fuzzQUIC,
    "conversation": fuzzConversation,
    "http2": fuzzHTTP2,
    "hpack": fuzzHPACK,
    "websocket": fuzzWebSocket,
    "dns": fuzzDNS,
    "content-codings": fuzzContentCodings,
    "marks": fuzzMarks,
    "mark-import": fuzzMarkImport,
    "json": fuzzJSON,
    "policy": fuzzPolicy,
    "scanner": fuzzScanner,
]

private let target: Target = {
    let name = ProcessInfo.processInfo.environment["FUZZ_TARGET"] ?? ""
    guard let target = targets[name] else {
        print("set FUZZ_TARGET to one of: \(targets.keys.sorted().joined(separator: " "))")
        exit(2)
    }
    return target
}()

@_cdecl("LLVMFuzzerInitialize")
public func initialize(
    _ count: UnsafeMutablePointer<CInt>, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
) -> CInt {
    if let folder = ProcessInfo.processInfo.environment["FUZZ_SEEDS"] {
        Seeds(folder: folder).write(from: CommandLine.arguments.dropFirst())
        exit(0)
    }
    return 0
}

@_cdecl("LLVMFuzzerTestOneInput")
public func test(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    target(UnsafeRawBufferPointer(start: start, count: count))
    return 0
}

/// Stops the run when something that must always hold does not.
func check(_ holds: Bool, _ what: @autoclosure () -> String, line: Int = #line) {
    if !holds { fatalError("line \(line): \(what())") }
}
