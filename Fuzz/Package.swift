// swift-tools-version: 6.2
import PackageDescription

/// The parsers again, compiled for libFuzzer: a package of its own, so that its flags don't affect the main one.
/// `Fuzz/run` builds and runs it. The folders in Sources are links to the main package's.
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("ExistentialAny"),
]

let package = Package(
    name: "Fuzz",
    dependencies: [.package(url: "https://github.com/apple/swift-crypto", from: "4.5.2")],
    targets: [
        .target(name: "Policy", swiftSettings: settings),
        .target(name: "GateProtocol", swiftSettings: settings),
        .target(name: "AppCatalog", dependencies: ["Policy"], swiftSettings: settings),
        .target(
            name: "SealedFormats",
            dependencies: [
                "HubAPI",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
            ], swiftSettings: settings),
        .target(name: "CLinux", cSettings: [.define("_GNU_SOURCE")]),
        .target(name: "ProcessSpawning", dependencies: ["CLinux"], swiftSettings: settings),
        .target(name: "Pictures", dependencies: ["CLinux", "ProcessSpawning"], swiftSettings: settings),
        .target(name: "HubAPI", swiftSettings: settings),
        .target(name: "ControlAPI", dependencies: ["HubAPI"], swiftSettings: settings),
        .target(
            name: "Household",
            dependencies: ["ControlAPI", "HubAPI", "SealedFormats", .product(name: "Crypto", package: "swift-crypto")],
            swiftSettings: settings),
        .target(name: "Sync", dependencies: ["Household", "HubAPI", "SealedFormats"], swiftSettings: settings),
        .target(name: "BlockingThread", swiftSettings: settings),
        .target(
            name: "DaemonCore",
            dependencies: ["BlockingThread", "Policy", "ControlAPI", "HubAPI", "SealedFormats", "Household", "Sync"],
            swiftSettings: settings),
        .target(name: "HubStore", dependencies: ["SealedFormats", "HubAPI"], swiftSettings: settings),
        .executableTarget(
            name: "ParserFuzz",
            dependencies: [
                "SealedFormats", "AppCatalog", "GateProtocol", "Pictures", "Policy", "ControlAPI", "HubAPI", "Household",
                "DaemonCore", "HubStore", "Sync",
            ], swiftSettings: settings),
    ]
)
