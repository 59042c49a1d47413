// swift-tools-version: 6.2
import PackageDescription

/// One set of rules for every target: Swift 6, explicit existentials and imports, and no warning let through.
let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .treatAllWarnings(as: .error),
]

/// A C library of the distribution, found through pkg-config; the folder holds a module map and a shim header.
func cLibrary(_ name: String, pkgConfig: String, debian: String) -> Target {
    .systemLibrary(
        name: name, path: "Sources/CLibraries/\(name)", pkgConfig: pkgConfig, providers: [.apt([debian])])
}

func library(_ name: String, _ dependencies: [Target.Dependency], resources: [Resource] = []) -> Target {
    .target(name: name, dependencies: dependencies, resources: resources, swiftSettings: strict)
}

func tests(_ name: String, _ dependencies: [Target.Dependency], excluding exclude: [String] = []) -> Target {
    .testTarget(name: name, dependencies: dependencies, exclude: exclude, swiftSettings: strict)
}

let package = Package(
    name: "handoff",
    products: [.executable(name: "handoff", targets: ["handoff"])],
    targets: [
        cLibrary("CPcap", pkgConfig: "libpcap", debian: "libpcap-dev"),
        cLibrary("COpenSSL", pkgConfig: "openssl", debian: "libssl-dev"),
        cLibrary("CNghttp2", pkgConfig: "libnghttp2", debian: "libnghttp2-dev"),
        cLibrary("CYaml", pkgConfig: "yaml-0.1", debian: "libyaml-dev"),
        cLibrary("CZlib", pkgConfig: "zlib", debian: "zlib1g-dev"),
        cLibrary("CBrotli", pkgConfig: "libbrotlidec", debian: "libbrotli-dev"),
        cLibrary("CZstd", pkgConfig: "libzstd", debian: "libzstd-dev"),
        cLibrary("CUV", pkgConfig: "libuv", debian: "libuv1-dev"),
        cLibrary("CJemalloc", pkgConfig: "jemalloc", debian: "libjemalloc-dev"),
        cLibrary("CQREncode", pkgConfig: "libqrencode", debian: "libqrencode-dev"),
        // Headers of the kernel alone: no library behind it.
        .systemLibrary(name: "CLinuxSockets", path: "Sources/CLibraries/CLinuxSockets"),

        // Arrows point downwards only; Tests/CommandLineTests/ArchitectureTests.swift checks the imports.
        library("SessionTrace", []),
        library("ContentCodings", ["CZlib", "CBrotli", "CZstd"]),
        library("Crypto", ["SessionTrace", "COpenSSL"]),
        library("WireFormats", ["SessionTrace", "Crypto", "ContentCodings", "CNghttp2"]),
        library("CaptureAnalyzer", ["SessionTrace", "WireFormats", "Crypto", "ContentCodings", "CPcap"]),
        library("Assertions", ["SessionTrace", "Crypto", "ContentCodings", "CYaml"]),
        library("Reports", ["SessionTrace", "Assertions"]),
        library("EventLoop", ["SessionTrace", "CUV", "CJemalloc", "CLinuxSockets"]),
        library(
            "HandoffProxy",
            ["SessionTrace", "WireFormats", "Crypto", "ContentCodings", "EventLoop", "CQREncode", "CPcap"]),
        library("Lab", ["SessionTrace", "WireFormats", "Crypto", "EventLoop", "CNghttp2"]),
        library(
            "CommandLine",
            [
                "SessionTrace", "WireFormats", "Crypto", "CaptureAnalyzer", "Assertions", "Reports", "EventLoop",
                "HandoffProxy", "Lab",
            ]),
        .executableTarget(name: "handoff", dependencies: ["CommandLine"], swiftSettings: strict),
        // Not shipped: records the corpus of sessions and holds the verdicts against its labels.
        .executableTarget(
            name: "handoff-corpus", dependencies: ["Lab", "Crypto", "EventLoop", "SessionTrace"],
            swiftSettings: strict),

        tests("SessionTraceTests", ["SessionTrace"]),
        tests("ContentCodingsTests", ["ContentCodings"]),
        tests("CryptoTests", ["Crypto", "SessionTrace", "COpenSSL"]),
        tests(
            "WireFormatsTests", ["WireFormats", "SessionTrace", "Crypto", "ContentCodings"], excluding: ["Golden"]),
        tests("CaptureAnalyzerTests", ["CaptureAnalyzer", "WireFormats", "SessionTrace", "Crypto"]),
        tests("AssertionsTests", ["Assertions", "SessionTrace", "ContentCodings", "Crypto", "CZlib", "CZstd"]),
        tests("ReportsTests", ["Reports", "Assertions", "SessionTrace"]),
        tests("EventLoopTests", ["EventLoop", "SessionTrace"]),
        tests(
            "HandoffProxyTests",
            [
                "HandoffProxy", "EventLoop", "SessionTrace", "WireFormats", "Crypto", "CaptureAnalyzer", "Assertions",
            ]),
        tests("LabTests", ["Lab", "HandoffProxy", "EventLoop", "SessionTrace", "Crypto"]),
        tests(
            "CommandLineTests",
            [
                "CommandLine", "SessionTrace", "WireFormats", "CaptureAnalyzer", "Assertions", "Reports", "EventLoop",
                "HandoffProxy", "Crypto", "Lab",
            ],
            excluding: ["Golden"]),
    ],
    swiftLanguageModes: [.v6]
)
