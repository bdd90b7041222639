// swift-tools-version: 6.1
import Foundation
import PackageDescription

/// Warnings stop our own builds, never those of a package that depends on Tributary:
/// SwiftPM refuses unsafe flags in dependencies, so `Scripts/test` and CI set this variable.
let strict = ProcessInfo.processInfo.environment["TRIBUTARY_STRICT"] != nil

let swiftSettings: [SwiftSetting] =
    [
        .swiftLanguageMode(.v6),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    ] + (strict ? [.unsafeFlags(["-warnings-as-errors"])] : [])

let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let serviceLifecycle = Target.Dependency.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")

/// What `Scripts/fuzz` builds under coverage with libFuzzer is the same code that the suite runs; a target is either.
let fuzzDependencies: [Target.Dependency] = [
    "FeedDeclarations", "FeedConfiguration", "FeedFetching", "TributaryEngine", "TributaryParsers", "FeedModel", "FeedStore",
    "XMLRecords", "XMLStream", "TestSupport", grdb, logging,
    .product(name: "AsyncHTTPClient", package: "async-http-client"),
    .product(name: "NIOHTTP1", package: "swift-nio"),
]
let fuzzTarget: Target =
    ProcessInfo.processInfo.environment["TRIBUTARY_FUZZ"] == nil
    ? .testTarget(
        name: "FuzzTests", dependencies: fuzzDependencies, exclude: ["Corpus", "Fuzzer"], swiftSettings: swiftSettings)
    : .executableTarget(
        name: "fuzz", dependencies: fuzzDependencies, path: "Tests/FuzzTests", exclude: ["Corpus", "FuzzTests.swift"],
        swiftSettings: swiftSettings, linkerSettings: [.linkedLibrary("stdc++")])

/// `Tributary` re-exports the other two. They are named besides because a build does not notice a change that reaches a
/// target through a re-export only.
let umbrella: [Target.Dependency] = [
    "Tributary", "TributaryEngine", "FeedConfiguration", "FeedDeclarations", "FeedModel", "FeedStore", grdb,
]

let package = Package(
    name: "tributary",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "Tributary", targets: ["Tributary"]),
        .library(name: "TributaryParsers", targets: ["TributaryParsers"]),
        // Codable values from XML and back, without the rest.
        .library(name: "XMLRecords", targets: ["XMLRecords"]),
        // The executable's target cannot share the library's name where file names ignore case.
        .executable(name: "tributary", targets: ["TributaryMain"]),
        .executable(name: "contacts-daemon", targets: ["ContactsDaemon"]),
    ],
    dependencies: [
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.24.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.81.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.29.0"),
        .package(url: "https://github.com/apple/swift-nio-http2", from: "1.36.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.5.0"),
        .package(url: "https://github.com/apple/swift-async-algorithms", from: "1.0.0"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.1.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.6.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-crypto", "3.12.3"..<"5.0.0"),
    ],
    targets: [
        .systemLibrary(
            name: "CLibXML2", pkgConfig: "libxml-2.0", providers: [.apt(["libxml2-dev"]), .brew(["libxml2"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CSQLite", providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
        .target(name: "XMLStream", dependencies: ["CLibXML2"], swiftSettings: swiftSettings),
        .target(name: "XMLRecords", dependencies: ["XMLStream"], swiftSettings: swiftSettings),
        .target(name: "TOML", swiftSettings: swiftSettings),
        // The values that everybody passes on.
        .target(name: "FeedModel", swiftSettings: swiftSettings),
        .target(
            name: "FeedStore",
            dependencies: ["FeedModel", "CSQLite", grdb, .product(name: "GRDBSQLite", package: "GRDB.swift")],
            swiftSettings: swiftSettings),
        // What `sources.toml` can say, as values; and from its text to them, or to every mistake in it.
        .target(
            name: "FeedDeclarations",
            dependencies: ["XMLStream", "FeedModel", .product(name: "Crypto", package: "swift-crypto")],
            swiftSettings: swiftSettings),
        .target(
            name: "FeedConfiguration",
            dependencies: [
                "XMLStream", "TOML", "FeedModel", "FeedDeclarations",
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            swiftSettings: swiftSettings),
        // Requests to responses.
        .target(
            name: "FeedFetching",
            dependencies: [
                "XMLStream", "FeedModel", "FeedDeclarations", "CZlib",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTP2", package: "swift-nio-http2"),
                .product(name: "NIOHPACK", package: "swift-nio-http2"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "DequeModule", package: "swift-collections"),
            ],
            swiftSettings: swiftSettings),
        .target(
            name: "TributaryEngine",
            dependencies: [
                "FeedFetching", "FeedDeclarations", "FeedConfiguration", "XMLStream", "XMLRecords", "TOML", "FeedModel", "FeedStore",
                "CZlib", grdb, logging, serviceLifecycle,
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTP2", package: "swift-nio-http2"),
                .product(name: "NIOHPACK", package: "swift-nio-http2"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "AsyncAlgorithms", package: "swift-async-algorithms"),
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            swiftSettings: swiftSettings),
        .target(
            name: "TributaryCommands",
            dependencies: [
                "FeedDeclarations", "FeedConfiguration", "TributaryEngine", "FeedModel", "FeedStore", "CSQLite", grdb,
                logging, serviceLifecycle,
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
                .product(name: "AsyncAlgorithms", package: "swift-async-algorithms"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: swiftSettings),
        // What users import: the engine and the commands under one name.
        .target(
            name: "Tributary",
            dependencies: [
                "FeedDeclarations", "FeedConfiguration", "TributaryEngine", "TributaryCommands", "FeedModel",
                "FeedStore",
                "XMLRecords", "XMLStream",
            ],
            swiftSettings: swiftSettings),
        // Parsers for formats that everybody meets; the reference for authors of parsers.
        .target(name: "TributaryParsers", dependencies: umbrella, swiftSettings: swiftSettings),
        .executableTarget(
            name: "TributaryMain", dependencies: ["TributaryParsers"] + umbrella,
            swiftSettings: swiftSettings),
        .executableTarget(
            name: "ContactsDaemon", dependencies: umbrella,
            exclude: ["sources.toml"], swiftSettings: swiftSettings),
        // Serves files on a loopback port, for Scripts/run and Scripts/bench.
        .executableTarget(name: "FeedServer", swiftSettings: swiftSettings),
        .target(
            name: "TestSupport",
            dependencies: [
                "TributaryEngine", grdb,
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "NIOHPACK", package: "swift-nio-http2"),
            ],
            path: "Tests/TestSupport",
            swiftSettings: swiftSettings),
        .testTarget(name: "XMLStreamTests", dependencies: ["XMLStream"], swiftSettings: swiftSettings),
        .testTarget(name: "XMLRecordsTests", dependencies: ["XMLRecords", "XMLStream"], swiftSettings: swiftSettings),
        .testTarget(name: "TOMLTests", dependencies: ["TOML"], swiftSettings: swiftSettings),
        .testTarget(
            name: "FeedStoreTests", dependencies: ["FeedModel", "FeedStore", "TestSupport", grdb],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "TributaryEngineTests",
            dependencies: [
                "FeedDeclarations", "FeedConfiguration", "FeedFetching", "TributaryEngine", "FeedModel", "FeedStore",
                "XMLRecords", "XMLStream", "TOML", "CZlib", "TestSupport",
                grdb, logging,
            ],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "TributaryParsersTests",
            dependencies: ["TributaryParsers", "Tributary", "TestSupport", grdb, logging],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "CommandTests",
            dependencies: ["TributaryCommands", "TestSupport", "ContactsDaemon", "TributaryMain", grdb],
            swiftSettings: swiftSettings),
        fuzzTarget,
        .testTarget(
            name: "RandomModelTests",
            dependencies: [
                "FeedDeclarations", "FeedFetching", "TributaryEngine", "FeedModel", "FeedStore", "TributaryMain", "TestSupport",
                grdb, logging,
            ],
            swiftSettings: swiftSettings),
    ]
)
