// swift-tools-version: 6.2
import Foundation
import PackageDescription

/// GTK and X11's screen-saver extension are needed by the programs of a desktop session alone. A machine without their
/// headers (a server, a rescue system) still builds everything else; `applocker prompt --tty` asks in the terminal then.
let hasDesktop = ["gtk-4.0/gtk/gtk.h", "X11/extensions/scrnsaver.h"].allSatisfy {
    FileManager.default.fileExists(atPath: "/usr/include/" + $0)
}

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("ExistentialAny"),
]

/// A library module under Sources/ and its unit tests under Tests/. `optimised`: also in a debug build.
func module(
    _ name: String, _ dependencies: [Target.Dependency] = [], tests: [Target.Dependency]? = nil, optimised: Bool = false
) -> [Target] {
    let settings = strict + (optimised ? [.unsafeFlags(["-O"], .when(configuration: .debug))] : [])
    var targets: [Target] = [.target(name: name, dependencies: dependencies, swiftSettings: settings)]
    if let tests {
        targets.append(
            .testTarget(
                name: name + "Tests", dependencies: [.target(name: name), "TestSupport"] + tests,
                resources: resources(ofTests: name), swiftSettings: strict))
    }
    return targets
}

/// Test targets that carry fixtures keep them in a folder of that name.
func resources(ofTests name: String) -> [Resource] {
    ["Supervisor", "AppCatalog", "Pictures"].contains(name) ? [.copy("Fixtures")] : []
}

let crypto: Target.Dependency = .product(name: "Crypto", package: "swift-crypto")
let cryptoExtras: Target.Dependency = .product(name: "CryptoExtras", package: "swift-crypto")
let grdb: Target.Dependency = .product(name: "GRDB", package: "GRDB.swift")
let hummingbird: Target.Dependency = .product(name: "Hummingbird", package: "hummingbird")
let hummingbirdCore: Target.Dependency = .product(name: "HummingbirdCore", package: "hummingbird")
let httpClient: Target.Dependency = .product(name: "AsyncHTTPClient", package: "async-http-client")
let argumentParser: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")
let lifecycle: Target.Dependency = .product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let unixSignals: Target.Dependency = .product(name: "UnixSignals", package: "swift-service-lifecycle")
let nioCore: Target.Dependency = .product(name: "NIOCore", package: "swift-nio")
let nioHTTP1: Target.Dependency = .product(name: "NIOHTTP1", package: "swift-nio")
let nioHTTPTypes: Target.Dependency = .product(name: "NIOHTTPTypes", package: "swift-nio-extras")
let httpTypes: Target.Dependency = .product(name: "HTTPTypes", package: "swift-http-types")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let nioPosix: Target.Dependency = .product(name: "NIOPosix", package: "swift-nio")
let nioSSL: Target.Dependency = .product(name: "NIOSSL", package: "swift-nio-ssl")

var targets: [Target] = [
    .target(name: "CLinux", cSettings: [.define("_GNU_SOURCE")]),
    .target(name: "TestOutput", path: "Tests/TestOutput"),
    .target(
        name: "TestSupport", dependencies: ["CLinux", "MessageBus", "TestOutput"], path: "Tests/TestSupport",
        swiftSettings: strict),
]
targets += module("Policy", tests: [])
targets += module("WireProtocol", ["Policy"], tests: ["Policy"])
targets += module("GateProtocol", tests: [])
targets += module("SealedFormats", [crypto, cryptoExtras], tests: [])
targets += module("ProcessHardening", ["CLinux"], tests: [])
targets += module("LaunchGate", ["GateProtocol", "ProcessHardening", "CLinux"], tests: ["GateProtocol", "CLinux"])
// Each daemon reads the machine's catalogue as it starts, and hundreds of tests start one.
targets += module("AppCatalog", ["Policy"], tests: ["Policy"], optimised: true)
targets += module("Household", ["WireProtocol", "SealedFormats", crypto], tests: ["WireProtocol", "SealedFormats"])
targets += module(
    "DaemonCore", ["Policy", "WireProtocol", "SealedFormats", "Household"],
    tests: ["Household", "HeadlessCompanion", "Policy", "WireProtocol", "SealedFormats", "SealedStore", "CLinux", grdb])
targets += module(
    "SealedStore", ["DaemonCore", "Household", "Policy", "WireProtocol", "SealedFormats", grdb],
    tests: ["DaemonCore", "Household", "Policy", "WireProtocol", "SealedFormats", "store-writer", grdb])
targets += module(
    "GateClient", ["DaemonCore", "Policy", "WireProtocol", "GateProtocol", "CLinux"],
    tests: ["DaemonCore", "Policy", "WireProtocol", "GateProtocol", "CLinux"])
targets += module(
    "LocalControl",
    [
        "WireProtocol", "CLinux", hummingbird, hummingbirdCore, httpClient, httpTypes, lifecycle, logging, nioCore,
        nioHTTP1, nioHTTPTypes, nioPosix,
    ], tests: ["WireProtocol", "CLinux", hummingbird, lifecycle])
targets += [
    .systemLibrary(name: "CQrencode", pkgConfig: "libqrencode", providers: [.apt(["libqrencode-dev"])])
]
targets += module("QRCode", ["CQrencode"], tests: [])
targets += module("Pictures", ["CLinux"], tests: [])
targets += module("FileLocking", ["SealedFormats", "CLinux"], tests: ["SealedFormats", "CLinux", "seal-speed"])
targets.append(
    .executableTarget(
        name: "seal-speed", dependencies: ["FileLocking", "SealedFormats"], path: "Benchmarks/seal/program",
        swiftSettings: strict))
targets += module("IntruderCamera", ["DaemonCore", "CLinux"], tests: ["DaemonCore"])
targets += module("Supervisor", ["CLinux"], tests: ["CLinux"])
targets += module("HostIntegrity", ["CLinux"], tests: ["CLinux"])
targets += module(
    "HeadlessCompanion", ["Household", "SealedFormats", "WireProtocol"],
    tests: ["Household", "HubClient", "SealedFormats", "WireProtocol"])
targets += module(
    "AppLockerCLI",
    [
        "Policy", "WireProtocol", "LocalControl", "HeadlessCompanion", "HubClient", "MessageBus", "SealedFormats",
        "FileLocking", "Pictures", "QRCode", "Supervisor", "HostIntegrity", "CLinux", crypto, argumentParser,
    ],
    tests: ["Pictures", "Policy", "WireProtocol", "LocalControl", "MessageBus", argumentParser])
targets += [
    .executableTarget(name: "applocker", dependencies: ["AppLockerCLI", "ProcessHardening"], swiftSettings: strict),
    // Swift's own libraries are linked into the released gate: it maps only what it uses, under 8 MB in all, and needs
    // no file to start again that anybody could replace or lock.
    .executableTarget(
        name: "applocker-gate", dependencies: ["LaunchGate"], swiftSettings: strict,
        linkerSettings: [.unsafeFlags(["-static-stdlib"], .when(configuration: .release))]),
    .executableTarget(
        name: "applockerd",
        dependencies: [
            "Policy", "WireProtocol", "SealedFormats", "DaemonCore", "SealedStore", "LocalControl", "GateClient",
            "GateProtocol", "HubClient", "AppCatalog", "HostIntegrity", "IntruderCamera", "SessionSignals",
            "ProcessHardening", "CLinux",
            logging, lifecycle, unixSignals,
        ], swiftSettings: strict),
    // What fuzzing kept; Fuzz/ compiles the same parsers for libFuzzer.
    .testTarget(
        name: "CorpusTests",
        dependencies: [
            "TestSupport", "SealedFormats", "AppCatalog", "GateProtocol", "Pictures", "Policy", "WireProtocol",
            "Household", "DaemonCore", "HubStore",
        ], swiftSettings: strict),
    // What the crash tests kill.
    .executableTarget(
        name: "store-writer", dependencies: ["DaemonCore", "SealedFormats", "SealedStore"], path: "Tests/StoreWriter",
        swiftSettings: strict),
    .testTarget(
        name: "Integration",
        dependencies: [
            "TestSupport", "Policy", "WireProtocol", "LocalControl", "Household", "HeadlessCompanion", "HubClient",
            "SealedFormats", "CLinux", "applocker", "applockerd", "applocker-gate", "applocker-hub",
        ], swiftSettings: strict),
    .testTarget(
        name: "Privileged",
        dependencies: [
            "TestSupport", "Policy", "WireProtocol", "LocalControl", "LaunchGate", "GateProtocol", "CLinux",
            "applocker", "applockerd", "applocker-gate",
        ], swiftSettings: strict),
]
// The hub: what it keeps, in SQLite or PostgreSQL, what it answers, and the devices' end of it.
targets += [.systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])])]
targets += [.systemLibrary(name: "CPostgreSQL", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])])]
targets += module(
    "HubStore", ["SealedFormats", "WireProtocol"],
    tests: ["HubStoreSQLite", "HubStorePostgres", "WireProtocol", "CLinux", "hub-store-writer", grdb])
targets += module("HubStoreSQLite", ["HubStore", "WireProtocol", grdb])
targets += module("HubStorePostgres", ["HubStore", "WireProtocol", "CPostgreSQL"])
targets += [
    // What the crash tests kill.
    .executableTarget(
        name: "hub-store-writer", dependencies: ["HubStore", "HubStoreSQLite", "WireProtocol"],
        path: "Tests/HubStoreWriter", swiftSettings: strict),
    .executableTarget(
        name: "hub-append-speed",
        dependencies: ["HubStore", "HubStoreSQLite", "HubStorePostgres", "SealedFormats", "WireProtocol"],
        path: "Benchmarks/hub/append", swiftSettings: strict),
]
targets += module("WebPush", [crypto], tests: [crypto])
targets += module(
    "HubServer",
    [
        "HubStore", "SealedFormats", "WebPush", "WireProtocol", "CZlib", crypto, hummingbird, hummingbirdCore,
        httpClient, httpTypes, lifecycle, unixSignals, logging, nioCore, nioHTTP1, nioHTTPTypes, nioPosix, nioSSL,
    ],
    tests: [
        "HubStore", "HubStoreSQLite", "SealedFormats", "WebPush", "WireProtocol", "applocker-hub", crypto, hummingbird,
        httpClient, httpTypes, lifecycle, logging, nioCore, nioHTTP1, nioPosix, nioSSL,
    ])
targets += module(
    "HubClient", ["WireProtocol", httpClient, nioCore, nioHTTP1, nioSSL, nioPosix],
    tests: ["HubServer", "HubStore", "HubStoreSQLite", "WireProtocol"])
targets += [
    .executableTarget(
        name: "applocker-hub",
        dependencies: [
            "HubServer", "HubStore", "HubStoreSQLite", "HubStorePostgres", "WireProtocol", argumentParser, lifecycle,
            logging, unixSignals,
        ], swiftSettings: strict)
]
// The message bus: the daemon listens to logind with it, the desktop agent speaks to the desktop.
targets += [.systemLibrary(name: "CSystemd", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])])]
targets += module("MessageBus", ["CSystemd"], tests: [])
targets += module(
    "SessionSignals", ["DaemonCore", "MessageBus"], tests: ["DaemonCore", "MessageBus", "Policy", "WireProtocol"])
if hasDesktop {
    targets += [.systemLibrary(name: "CXss", pkgConfig: "xscrnsaver", providers: [.apt(["libxss-dev"])])]
    targets += module(
        "DesktopSession", ["WireProtocol", "LocalControl", "MessageBus", "ProcessHardening", "CXss"],
        tests: ["WireProtocol", "LocalControl", "MessageBus", "applocker-agent"])
    targets += [
        .executableTarget(
            name: "applocker-agent", dependencies: ["DesktopSession", "WireProtocol"], swiftSettings: strict),
        .systemLibrary(
            name: "CGtk4", pkgConfig: "gtk4 gio-unix-2.0 x11", providers: [.apt(["libgtk-4-dev"])]),
        .target(
            name: "UnlockPrompt",
            dependencies: [
                "WireProtocol", "LocalControl", "DesktopSession", "ProcessHardening", "QRCode", "CGtk4", "CLinux",
            ],
            swiftSettings: strict),
        .executableTarget(name: "applocker-prompt", dependencies: ["UnlockPrompt"], swiftSettings: strict),
        .testTarget(
            name: "UnlockPromptTests",
            dependencies: ["UnlockPrompt", "WireProtocol", "LocalControl", "TestSupport", "applocker-prompt"],
            swiftSettings: strict),
    ]
}

let package = Package(
    name: "AppLocker",
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: targets
)
