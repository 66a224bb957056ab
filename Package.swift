// swift-tools-version: 6.2
import Foundation
import PackageDescription

/// GTK and X11's screen-saver extension are needed by the programs of a desktop session alone. A machine without their
/// headers (a server, a rescue system) still builds everything else; `applocker prompt --tty` asks in the terminal then.
let hasDesktop = ["gtk-4.0/gtk/gtk.h", "X11/extensions/scrnsaver.h"].allSatisfy {
    FileManager.default.fileExists(atPath: "/usr/include/" + $0)
}

/// The window needs libadwaita beside them.
let hasAdwaita =
    hasDesktop && FileManager.default.fileExists(atPath: "/usr/include/libadwaita-1/adwaita.h")

#if os(Linux)
    let isLinux = true
#else
    let isLinux = false
#endif

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("ExistentialAny"),
]

/// A folder of `Sources/`, and of `Tests/`.
enum Area: String {
    case shared = "Shared"
    case system = "System"
    case gate = "Gate"
    case daemon = "Daemon"
    case hub = "Hub"
    case desktop = "Desktop"
    case cli = "CLI"

    func sources(_ name: String) -> String { "Sources/\(rawValue)/\(name)" }
    func tests(_ name: String) -> String { "Tests/\(rawValue)/\(name)" }
}

/// A library module and its unit tests. `optimised`: also in a debug build.
func module(
    _ name: String, in area: Area, _ dependencies: [Target.Dependency] = [], tests: [Target.Dependency]? = nil,
    optimised: Bool = false
) -> [Target] {
    let settings = strict + (optimised ? [.unsafeFlags(["-O"], .when(configuration: .debug))] : [])
    var targets: [Target] = [
        .target(name: name, dependencies: dependencies, path: area.sources(name), swiftSettings: settings)
    ]
    if let tests {
        let support: [Target.Dependency] = ["TestSupport"] + (isLinux ? ["SystemTestSupport"] : [])
        targets.append(
            .testTarget(
                name: name + "Tests", dependencies: [.target(name: name)] + support + tests,
                path: area.tests(name + "Tests"), exclude: isLinux ? [] : needingLinux(ofTests: name),
                resources: resources(ofTests: name), swiftSettings: strict))
    }
    return targets
}

/// Files with tests that start programs of the system.
func needingLinux(ofTests name: String) -> [String] {
    name == "SealedFormats" ? ["IndependentReaderTests.swift"] : []
}

/// Test targets that carry fixtures keep them in a folder of that name.
func resources(ofTests name: String) -> [Resource] {
    ["Supervisor", "AppCatalog", "Pictures"].contains(name) ? [.copy("Fixtures")] : []
}

/// - Parameter path: where it isn't the area's folder of that name.
func program(
    _ name: String, in area: Area, _ dependencies: [Target.Dependency], path: String? = nil,
    linkerSettings: [LinkerSetting] = []
) -> [Target] {
    [
        .executableTarget(
            name: name, dependencies: dependencies, path: path ?? area.sources(name), swiftSettings: strict,
            linkerSettings: linkerSettings)
    ]
}

/// A C library of the system, with the Debian package that has its headers.
func systemLibrary(_ name: String, in area: Area, pkgConfig: String, package: String) -> [Target] {
    [.systemLibrary(name: name, path: area.sources(name), pkgConfig: pkgConfig, providers: [.apt([package])])]
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

var targets: [Target] = []

// MARK: Shared: what every device and the hub stand on

targets += module("Policy", in: .shared, tests: [])
targets += module("HubAPI", in: .shared, tests: [])
targets += module("ControlAPI", in: .shared, ["HubAPI"], tests: [])
targets += module("Localization", in: .shared, tests: [])
targets += module(
    "DesktopModels", in: .shared, ["ControlAPI", "HubAPI", "Localization", "Policy"],
    tests: ["ControlAPI", "HubAPI", "Policy"])
targets += module("SealedFormats", in: .shared, ["HubAPI", crypto, cryptoExtras], tests: [])
targets += module(
    "Household", in: .shared, ["ControlAPI", "HubAPI", "SealedFormats", crypto], tests: ["HubAPI", "SealedFormats"])
targets += module("Sync", in: .shared, ["Household", "HubAPI", "SealedFormats"])
targets += module(
    "HubClient", in: .shared, ["HubAPI", httpClient, nioCore, nioHTTP1, nioSSL, nioPosix],
    // With a real hub, which needs Linux.
    tests: isLinux ? ["HubServer", "HubStore", "HubStoreSQLite", "HubAPI"] : nil)

// Random numbers, vectors and directories of tests.
targets.append(.target(name: "TestSupport", path: "Tests/TestSupport", swiftSettings: strict))

/// All that is built on systems other than Linux.
let portable = targets

// MARK: System: adapters to Linux and its libraries

targets.append(
    .target(name: "CLinux", path: Area.system.sources("CLinux"), cSettings: [.define("_GNU_SOURCE")]))
targets += systemLibrary("CQrencode", in: .system, pkgConfig: "libqrencode", package: "libqrencode-dev")
targets += systemLibrary("CSystemd", in: .system, pkgConfig: "libsystemd", package: "libsystemd-dev")
targets += module("BlockingThread", in: .system)
targets += module("ProcessHardening", in: .system, ["CLinux"], tests: [])
targets += module("ProcessSpawning", in: .system, ["CLinux"])
targets += module("HostIntegrity", in: .system, ["CLinux"], tests: ["CLinux"])
targets += module("QRCode", in: .system, ["CQrencode"], tests: [])
targets += module("Pictures", in: .system, ["CLinux", "ProcessSpawning"], tests: ["applocker-picture"])
// Decodes the pictures that Pictures reads, in a process of its own; optimised also in a debug build, as its libraries are.
// libheif, whose header it includes, is loaded when it is needed.
targets.append(
    .executableTarget(
        name: "applocker-picture", path: Area.system.sources("applocker-picture"),
        cSettings: [.define("_GNU_SOURCE"), .unsafeFlags(["-O2", "-Wall", "-Wextra", "-Werror"])],
        linkerSettings: ["jpeg", "png16", "webp", "webpdemux", "gif"].map { .linkedLibrary($0) }))
targets += module("DBus", in: .system, ["CSystemd"], tests: [])
targets += module(
    "LocalControl", in: .system,
    [
        "ControlAPI", "HubAPI", "CLinux", "ProcessSpawning", hummingbird, hummingbirdCore, httpClient, httpTypes,
        lifecycle,
        logging, nioCore, nioHTTP1, nioHTTPTypes, nioPosix,
    ], tests: ["ControlAPI", "HubAPI", "CLinux", hummingbird, lifecycle])

targets += module(
    "FileLocking", in: .system, ["BlockingThread", "SealedFormats", "CLinux"],
    tests: ["SealedFormats", "CLinux", "seal-speed"])
targets += program("seal-speed", in: .system, ["FileLocking", "SealedFormats"], path: "Benchmarks/seal/program")
targets += module(
    "VaultTransfer", in: .system, ["BlockingThread", "ControlAPI", "FileLocking", "LocalControl", "SealedFormats"])
targets += module(
    "MomentTransfer", in: .system,
    [
        "BlockingThread", "CLinux", "ControlAPI", "FileLocking", "LocalControl", "Pictures", "SealedFormats",
        "VaultTransfer", crypto,
    ])

// MARK: Gate: holds launches in the kernel

targets += module("GateProtocol", in: .gate, tests: [])
targets += module(
    "LaunchGate", in: .gate, ["GateProtocol", "ProcessHardening", "CLinux"], tests: ["GateProtocol", "CLinux"])
// Swift's own libraries are linked into the released gate: it maps only what it uses, under 8 MB in all, and needs
// no file to start again that anybody could replace or lock.
targets += program(
    "applocker-gate", in: .gate, ["LaunchGate"],
    linkerSettings: [.unsafeFlags(["-static-stdlib"], .when(configuration: .release))])

// MARK: Daemon: decides

// Each daemon reads the machine's catalogue as it starts, and hundreds of tests start one.
targets += module("AppCatalog", in: .daemon, ["Policy"], tests: ["Policy"], optimised: true)
targets += module(
    "DaemonCore", in: .daemon,
    ["BlockingThread", "Policy", "ControlAPI", "HubAPI", "SealedFormats", "Household", "Sync"],
    tests: [
        "Household", "HeadlessCompanion", "Policy", "ControlAPI", "HubAPI", "SealedFormats", "SealedStore", "Sync",
        "CLinux", grdb,
    ])
targets += module(
    "SealedStore", in: .daemon,
    ["DaemonCore", "Household", "Policy", "ControlAPI", "HubAPI", "SealedFormats", "Sync", grdb],
    tests: ["DaemonCore", "Household", "Policy", "ControlAPI", "HubAPI", "SealedFormats", "Sync", "store-writer", grdb])
// What the crash tests kill.
targets += program(
    "store-writer", in: .daemon, ["DaemonCore", "SealedFormats", "SealedStore", "Sync"],
    path: Area.daemon.tests("StoreWriter"))
targets += module(
    "SessionSignals", in: .daemon, ["DaemonCore", "DBus", "HubAPI"],
    tests: ["DaemonCore", "DBus"])
targets += module("IntruderCamera", in: .daemon, ["DaemonCore", "CLinux", "ProcessSpawning"], tests: ["DaemonCore"])
targets += module(
    "GateClient", in: .daemon, ["DaemonCore", "Policy", "ControlAPI", "GateProtocol", "CLinux"],
    tests: ["DaemonCore", "Policy", "ControlAPI", "GateProtocol", "CLinux"])
targets += program(
    "applockerd", in: .daemon,
    [
        "Policy", "ControlAPI", "HubAPI", "Household", "SealedFormats", "DaemonCore", "SealedStore", "LocalControl",
        "GateClient",
        "HubClient", "AppCatalog", "HostIntegrity", "IntruderCamera", "SessionSignals",
        "ProcessHardening", "CLinux", logging, lifecycle, unixSignals,
    ])

// MARK: Hub: stores and forwards what devices have sealed

targets += systemLibrary("CZlib", in: .hub, pkgConfig: "zlib", package: "zlib1g-dev")
targets += systemLibrary("CPostgreSQL", in: .hub, pkgConfig: "libpq", package: "libpq-dev")
targets += module(
    "HubStore", in: .hub, ["SealedFormats", "HubAPI"],
    tests: ["HubStoreSQLite", "HubStorePostgres", "HubAPI", "CLinux", "hub-store-writer", grdb])
targets += module("HubStoreSQLite", in: .hub, ["HubStore", "HubAPI", grdb])
targets += module("HubStorePostgres", in: .hub, ["HubStore", "HubAPI", "CPostgreSQL"])
// What the crash tests kill.
targets += program(
    "hub-store-writer", in: .hub, ["HubStore", "HubStoreSQLite", "HubAPI"],
    path: Area.hub.tests("HubStoreWriter"))
targets += program(
    "hub-append-speed", in: .hub,
    ["HubStore", "HubStoreSQLite", "HubStorePostgres", "SealedFormats", "HubAPI"], path: "Benchmarks/hub/append")
targets += module("WebPush", in: .hub, ["HubAPI", crypto], tests: ["HubAPI", crypto])
targets += module(
    "HubServer", in: .hub,
    [
        "BlockingThread", "HubStore", "SealedFormats", "WebPush", "HubAPI", "CZlib", crypto, hummingbird,
        hummingbirdCore,
        httpClient, httpTypes, lifecycle, unixSignals, logging, nioCore, nioHTTP1, nioHTTPTypes, nioPosix, nioSSL,
    ],
    tests: [
        "HubStore", "HubStoreSQLite", "SealedFormats", "WebPush", "HubAPI", "applocker-hub", crypto, hummingbird,
        httpClient, httpTypes, lifecycle, logging, nioCore, nioHTTP1, nioPosix, nioSSL,
    ])
targets += program(
    "applocker-hub", in: .hub,
    [
        "HubServer", "HubStore", "HubStoreSQLite", "HubStorePostgres", "QRCode", "SealedFormats", argumentParser,
        lifecycle,
        logging, unixSignals,
    ])

// MARK: Desktop: asks and reports in a user's session

if hasDesktop {
    // GNU gettext, which is part of the C library.
    targets.append(.systemLibrary(name: "CGettext", path: Area.desktop.sources("CGettext")))
    targets += systemLibrary("CXss", in: .desktop, pkgConfig: "xscrnsaver", package: "libxss-dev")
    targets += systemLibrary("CGtk4", in: .desktop, pkgConfig: "gtk4 gio-unix-2.0 x11", package: "libgtk-4-dev")
    targets += module(
        "DesktopSession", in: .desktop,
        [
            "BlockingThread", "ControlAPI", "HubAPI", "LocalControl", "Localization", "DBus", "ProcessHardening",
            "CGettext", "CXss", argumentParser,
        ],
        tests: ["ControlAPI", "HubAPI", "HubStore", "LocalControl", "Localization", "DBus", "applocker-agent"])
    targets += module(
        "GtkSupport", in: .desktop, ["BlockingThread", "Pictures", "ProcessHardening", "QRCode", "CGtk4"])
    targets += module(
        "UnlockPrompt", in: .desktop,
        [
            "BlockingThread", "ControlAPI", "HubAPI", "LocalControl", "Localization", "DesktopSession", "GtkSupport",
            "ProcessHardening", "QRCode", "CGtk4", "CLinux", argumentParser,
        ],
        tests: [
            "ControlAPI", "DesktopSession", "GtkSupport", "LocalControl", "applocker-picture", "applocker-prompt",
        ])
    targets += program("applocker-agent", in: .desktop, ["DesktopSession"])
    targets += program("applocker-prompt", in: .desktop, ["UnlockPrompt"])
}

if hasAdwaita {
    targets += systemLibrary(
        "CAdwaita", in: .desktop, pkgConfig: "libadwaita-1 gtk4 gio-unix-2.0 x11", package: "libadwaita-1-dev")
    // The screens, embedded by clang's #embed.
    targets.append(
        .target(
            name: "CWindowTemplates", dependencies: ["CGtk4", "CAdwaita"],
            path: Area.desktop.sources("CWindowTemplates"), exclude: ["blueprints", "ui", "style.css"],
            cSettings: [.unsafeFlags(["-std=gnu2x", "-Wall", "-Wextra", "-Werror"])]))
    targets += module(
        "DesktopWindow", in: .desktop,
        [
            "BlockingThread", "ControlAPI", "HubAPI", "Policy", "DesktopModels", "HostIntegrity", "LocalControl",
            "Localization",
            "DesktopSession",
            "GtkSupport", "ProcessHardening", "QRCode", "FileLocking", "SealedFormats", "VaultTransfer",
            "MomentTransfer",
            "Pictures", "CGtk4", "CAdwaita", "CWindowTemplates", argumentParser,
        ],
        tests: [
            "ControlAPI", "DesktopModels", "HeadlessCompanion", "HostIntegrity", "Household", "HubAPI", "HubClient",
            "LocalControl", "SealedFormats", "applocker", "applockerd", "applocker-gate", "applocker-hub",
            "applocker-desktop",
        ])
    targets += program("applocker-desktop", in: .desktop, ["DesktopWindow"])
}

// MARK: CLI: everything a person or a script can do

targets += module("Supervisor", in: .cli, ["CLinux", "HubAPI", "ProcessSpawning"], tests: ["CLinux"])
targets += module(
    "AppLockerCLI", in: .cli,
    [
        "BlockingThread", "Policy", "ControlAPI", "HubAPI", "Household", "LocalControl", "HubClient",
        "DBus", "SealedFormats", "FileLocking", "VaultTransfer", "MomentTransfer", "Pictures", "ProcessSpawning",
        "QRCode", "Supervisor",
        "HostIntegrity", "CLinux", crypto,
        argumentParser,
    ],
    tests: ["Pictures", "Policy", "ControlAPI", "LocalControl", "MomentTransfer", "DBus", argumentParser])
targets += program("applocker", in: .cli, ["AppLockerCLI", "ProcessHardening"])

// MARK: Tests of several areas

targets += program(
    "hub-device", in: .hub, ["HeadlessCompanion", "HubClient", "HubAPI", "SealedFormats"],
    path: "Benchmarks/hub/device")

targets += [
    .target(name: "TestOutput", path: "Tests/TestOutput"),
    // A companion without a screen.
    .target(
        name: "HeadlessCompanion", dependencies: ["Household", "SealedFormats", "HubAPI"],
        path: "Tests/HeadlessCompanion", swiftSettings: strict),
    .testTarget(
        name: "HeadlessCompanionTests",
        dependencies: [
            "HeadlessCompanion", "SystemTestSupport", "TestSupport", "Household", "HubClient", "SealedFormats",
            "ControlAPI",
        ],
        path: "Tests/HeadlessCompanionTests", swiftSettings: strict),
    // Child processes, servers and displays of tests, and what a test requires of the machine.
    .target(
        name: "SystemTestSupport", dependencies: ["CLinux", "DBus", "TestOutput", "TestSupport"],
        path: "Tests/SystemTestSupport", swiftSettings: strict),
    // What fuzzing kept; Fuzz/ compiles the same parsers for libFuzzer.
    .testTarget(
        name: "CorpusTests",
        dependencies: [
            "SystemTestSupport", "TestSupport", "SealedFormats", "AppCatalog", "GateProtocol", "Pictures", "Policy",
            "ControlAPI", "HubAPI",
            "Household", "DaemonCore", "Sync", "HubStore",
        ], swiftSettings: strict),
    .testTarget(
        name: "Integration",
        dependencies: [
            "SystemTestSupport", "TestSupport", "Policy", "ControlAPI", "LocalControl", "Household",
            "HeadlessCompanion", "HubClient",
            "SealedFormats", "CLinux", "applocker", "applocker-picture", "applockerd", "applocker-gate",
            "applocker-hub",
        ], swiftSettings: strict),
    .testTarget(
        name: "Privileged",
        dependencies: [
            "SystemTestSupport", "TestSupport", "Policy", "ControlAPI", "LocalControl", "LaunchGate", "GateProtocol",
            "CLinux",
            "applocker", "applockerd", "applocker-gate",
        ], swiftSettings: strict),
]

// Front ends for other systems stand on the portable modules alone. These have been built on Linux only.
let package = Package(
    name: "AppLocker",
    platforms: [.iOS(.v18), .macOS(.v15)],
    products: portable.filter { $0.type == .regular && $0.name != "TestSupport" }.map {
        .library(name: $0.name, targets: [$0.name])
    },
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
    targets: isLinux ? targets : portable
)
