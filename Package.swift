// swift-tools-version: 6.1
import Foundation
import PackageDescription

/// Warnings stop our own builds, never those of a package that depends on Tributary:
/// SwiftPM refuses unsafe flags in dependencies, so `Scripts/test` and CI set this variable.
let strict = ProcessInfo.processInfo.environment["TRIBUTARY_STRICT"] != nil

/// Tests see what is internal to a module, in an optimized build too: `Scripts/test --all` sets this variable. What users
/// build has no need of it, and `swift build -c release` without it is a step of CI.
let testing = ProcessInfo.processInfo.environment["TRIBUTARY_TESTING"] != nil

/// The commit that the program names as its own. `Scripts/package` sets it: what SwiftPM's `Context` knows of git is as old as
/// the manifest that SwiftPM keeps. One file of C has it, so that a new commit compiles nothing else anew.
let commit = ProcessInfo.processInfo.environment["TRIBUTARY_COMMIT"].map {
    [CSetting.define("TRIBUTARY_COMMIT", to: "\"\($0)\"")]
}

let swiftSettings: [SwiftSetting] =
    [
        .swiftLanguageMode(.v6),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    ] + (strict ? [.unsafeFlags(["-warnings-as-errors"])] : []) + (testing ? [.unsafeFlags(["-enable-testing"])] : [])

/// Tests are compiled without optimization, beside optimized targets too: that takes a third of the time, and they run as fast.
let testSettings = swiftSettings + (testing ? [.unsafeFlags(["-Onone"])] : [])

let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let serviceLifecycle = Target.Dependency.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let metrics = Target.Dependency.product(name: "Metrics", package: "swift-metrics")
let coreMetrics = Target.Dependency.product(name: "CoreMetrics", package: "swift-metrics")
let hummingbird = Target.Dependency.product(name: "Hummingbird", package: "hummingbird")
let nioSSL = Target.Dependency.product(name: "NIOSSL", package: "swift-nio-ssl")

/// The targets behind `Tributary`, each knowing only those before it, but for the store and fetching, which do not know
/// each other. `Documentation/Architecture.md` says what each is for.
let house: [Target.Dependency] = [
    "XMLStream", "XMLRecords", "FeedModel", "FeedDeclarations", "FeedConfiguration", "FeedStaging", "StoreSQL",
    "FeedStores", "Ledger", "Merging", "SQLiteStore", "FeedFetching",
    "FeedParsing", "FeedInferring", "FeedExporting", "TributaryEngine", "TributaryStores",
]

/// What `Scripts/fuzz` builds under coverage with libFuzzer is the same code that the suite runs; a target is either.
let fuzzDependencies: [Target.Dependency] =
    house + ["TributaryParsers", "TestSupport", grdb, logging]
let fuzzTarget: Target =
    ProcessInfo.processInfo.environment["TRIBUTARY_FUZZ"] == nil
    ? .testTarget(
        name: "FuzzTests", dependencies: fuzzDependencies, exclude: ["Corpus", "Fuzzer"], swiftSettings: testSettings)
    : .executableTarget(
        name: "fuzz", dependencies: fuzzDependencies, path: "Tests/FuzzTests", exclude: ["Corpus", "FuzzTests.swift"],
        swiftSettings: swiftSettings, linkerSettings: [.linkedLibrary("stdc++")])

/// What users of `Tributary` import. The targets that it re-exports are named besides because a build does not notice a
/// change that reaches a target through a re-export only.
let umbrella: [Target.Dependency] = ["Tributary", grdb] + house

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
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.5.0"),
        .package(url: "https://github.com/apple/swift-async-algorithms", from: "1.0.0"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.1.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.6.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.7.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.9.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.5.0", traits: ["FullFoundation"]),
        .package(url: "https://github.com/hummingbird-project/swift-mustache", from: "2.0.0"),
        // For tests only.
        .package(url: "https://github.com/LebJe/TOMLKit", from: "0.6.0"),
    ],
    targets: [
        .systemLibrary(
            name: "CLibXML2", pkgConfig: "libxml-2.0", providers: [.apt(["libxml2-dev"]), .brew(["libxml2"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(
            name: "CArchive", pkgConfig: "libarchive", providers: [.apt(["libarchive-dev"]), .brew(["libarchive"])]),
        .systemLibrary(name: "CNettle", pkgConfig: "nettle", providers: [.apt(["nettle-dev"]), .brew(["nettle"])]),
        .systemLibrary(name: "CSQLite", providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
        .target(name: "XMLStream", dependencies: ["CLibXML2"], swiftSettings: swiftSettings),
        .target(name: "XMLRecords", dependencies: ["Locking", "XMLStream"], swiftSettings: swiftSettings),
        .target(name: "TOML", swiftSettings: swiftSettings),
        // A lock that is safe in asynchronous functions.
        .target(name: "Locking", swiftSettings: swiftSettings),
        .target(name: "Cryptography", dependencies: ["CNettle"], swiftSettings: swiftSettings),
        .target(name: "PostgresClient", dependencies: ["Locking", "CLibPQ"], swiftSettings: swiftSettings),
        // PostgreSQL's client library, loaded when a store needs it.
        .target(name: "CLibPQ"),
        // libcurl, loaded when a request needs it.
        .target(name: "CCurl"),
        .target(name: "CBuildCommit", cSettings: commit),
        // The values that everybody passes on.
        .target(name: "FeedModel", dependencies: ["CBuildCommit"], swiftSettings: swiftSettings),
        // What `sources.toml` can say, as values.
        .target(
            name: "FeedDeclarations", dependencies: ["XMLStream", "FeedModel", "Cryptography"],
            swiftSettings: swiftSettings),
        // TOML to declarations, or every mistake in it.
        .target(
            name: "FeedConfiguration", dependencies: ["XMLStream", "TOML", "FeedModel", "FeedDeclarations", nioSSL],
            swiftSettings: swiftSettings),
        // Rows from a parser to batches, and to a scratch database when they are many.
        .target(
            name: "FeedStaging",
            dependencies: ["Locking", "FeedModel", grdb, .product(name: "GRDBSQLite", package: "GRDB.swift")],
            swiftSettings: swiftSettings),
        // A statement, and what runs it.
        .target(name: "StoreSQL", dependencies: ["FeedModel"], swiftSettings: swiftSettings),
        // What every main store promises.
        .target(
            name: "FeedStores", dependencies: ["Locking", "FeedModel", "FeedStaging"], swiftSettings: swiftSettings),
        // The main store as the engine knows it, with Tributary's own tables in either database.
        .target(
            name: "Ledger", dependencies: ["Locking", "FeedModel", "FeedStaging", "FeedStores", "StoreSQL"],
            swiftSettings: swiftSettings),
        // What a commit does to the rows of a store, whichever it is.
        .target(
            name: "Merging", dependencies: ["FeedModel", "FeedStaging", "FeedStores", "StoreSQL", "Ledger"],
            swiftSettings: swiftSettings),
        // The main store in an SQLite file.
        .target(
            name: "SQLiteStore",
            dependencies: [
                "Locking", "XMLStream", "FeedModel", "FeedStaging", "FeedStores", "Merging", "Ledger", "StoreSQL",
                "CSQLite", grdb,
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ],
            swiftSettings: swiftSettings),
        // The main store in PostgreSQL.
        .target(
            name: "PostgresStore",
            dependencies: [
                "Locking", "FeedModel", "FeedStaging", "FeedStores", "Merging", "Ledger", "StoreSQL", "PostgresClient",
                grdb,
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ],
            swiftSettings: swiftSettings),
        // A request to a response.
        .target(
            name: "FeedFetching",
            dependencies: [
                "Locking", "XMLStream", "FeedModel", "FeedDeclarations", "CArchive", "CCurl", "CZlib", nioSSL,
                "Cryptography",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "HeapModule", package: "swift-collections"),
            ],
            swiftSettings: swiftSettings),
        // A body to staged rows.
        .target(
            name: "FeedParsing",
            dependencies: [
                "XMLStream", "XMLRecords", "FeedModel", "FeedDeclarations", "FeedStaging", grdb, "Cryptography",
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ],
            swiftSettings: swiftSettings),
        // A document to a mapping for it.
        .target(name: "FeedInferring", dependencies: ["XMLStream", "FeedDeclarations"], swiftSettings: swiftSettings),
        // Rows to a document.
        .target(
            name: "FeedExporting",
            dependencies: [
                "XMLStream", "FeedModel", "FeedDeclarations", "FeedStaging", "FeedStores", "Ledger", "FeedParsing",
                "CSQLite", grdb,
            ],
            swiftSettings: swiftSettings),
        // Runs and their order; due times; events.
        .target(
            name: "TributaryEngine",
            dependencies: [
                "Locking", "XMLStream", "XMLRecords", "FeedModel", "FeedDeclarations", "FeedConfiguration",
                "FeedStaging", "FeedStores", "Ledger", "FeedFetching", "FeedParsing", "FeedInferring", grdb, logging,
                metrics, serviceLifecycle, "Cryptography",
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "HeapModule", package: "swift-collections"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: swiftSettings),
        // What swift-metrics is told, as Prometheus reads it.
        .target(
            name: "PrometheusMetrics", dependencies: ["Locking", coreMetrics], swiftSettings: swiftSettings),
        // The stores that there are, and the engine on one of them.
        .target(
            name: "TributaryStores",
            dependencies: [
                "FeedModel", "FeedConfiguration", "FeedParsing", "FeedStores", "Ledger", "SQLiteStore", "PostgresStore",
                "TributaryEngine", grdb, logging,
            ],
            swiftSettings: swiftSettings),
        // What a daemon shows over HTTP: the page, metrics, health.
        .target(
            name: "TributaryWeb",
            dependencies: [
                "Locking", "FeedModel", "FeedDeclarations", "FeedFetching", "FeedStores", "Ledger",
                "TributaryEngine", "PrometheusMetrics", coreMetrics, hummingbird,
                .product(name: "HummingbirdCore", package: "hummingbird"),
                logging, serviceLifecycle, "Cryptography",
                .product(name: "Mustache", package: "swift-mustache"),
                .product(name: "AsyncAlgorithms", package: "swift-async-algorithms"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "DequeModule", package: "swift-collections"),
            ],
            resources: [.embedInCode("Resources")], swiftSettings: swiftSettings),
        .target(
            name: "TributaryCommands",
            dependencies: [
                "Locking", "FeedModel", "FeedDeclarations", "FeedConfiguration", "FeedStaging", "FeedStores",
                "Ledger", "TributaryStores",
                "FeedParsing", "FeedInferring",
                "FeedExporting", "TributaryEngine", "TributaryWeb", "PrometheusMetrics", "CSQLite", grdb, logging,
                serviceLifecycle,
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
                .product(name: "AsyncAlgorithms", package: "swift-async-algorithms"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: swiftSettings),
        // What users import: the engine, the commands and what parsers use under one name.
        .target(name: "Tributary", dependencies: house + ["TributaryCommands"], swiftSettings: swiftSettings),
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
                "CTestWidth", "FeedModel", "TributaryEngine", grdb, nioSSL,
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            path: "Tests/TestSupport",
            swiftSettings: swiftSettings),
        .target(
            name: "PostgresServer", dependencies: ["PostgresClient", "TestSupport"], path: "Tests/PostgresServer",
            swiftSettings: swiftSettings),
        // The store of a test, over each kind of which the test runs.
        .target(
            name: "TestStores",
            dependencies: ["FeedModel", "FeedStaging", "PostgresClient", "PostgresServer", "TestSupport", grdb],
            path: "Tests/TestStores", swiftSettings: swiftSettings),
        // The engine between a publisher and a store of a test.
        .target(
            name: "TestEngine",
            dependencies: house + ["TestStores", "TestSupport", "CArchive", "CZlib", grdb, logging],
            path: "Tests/TestEngine", swiftSettings: swiftSettings),
        // Whole daemons, publishers and stores in one thread, from a seed.
        .target(name: "CJobHook", path: "Tests/CJobHook"),
        // How many tests run at once.
        .target(name: "CTestWidth", path: "Tests/CTestWidth"),
        .target(
            name: "Simulator",
            dependencies: [
                "CJobHook", "FeedModel", "FeedDeclarations", "FeedConfiguration", "FeedFetching", "FeedParsing",
                "FeedStores", "Ledger", "SQLiteStore", "TributaryEngine", "TributaryStores", "TestSupport", grdb,
                logging, "Cryptography",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "HeapModule", package: "swift-collections"),
            ],
            path: "Tests/Simulator", swiftSettings: swiftSettings),
        .executableTarget(
            name: "simulate", dependencies: ["Simulator"], path: "Tests/simulate", swiftSettings: swiftSettings),
        .testTarget(
            name: "SimulatorTests", dependencies: ["simulate", "TestSupport"], exclude: ["Mutants"],
            swiftSettings: testSettings),
        .testTarget(
            name: "PostgresClientTests", dependencies: ["PostgresClient", "PostgresServer"],
            swiftSettings: testSettings),
        .testTarget(
            name: "PostgresStoreTests",
            dependencies: [
                "FeedModel", "FeedStaging", "FeedStores", "Merging", "Ledger", "StoreSQL", "PostgresStore",
                "PostgresClient", "PostgresServer",
                "TestStores", grdb,
            ],
            swiftSettings: testSettings),
        // What both stores decide, over each of them.
        .testTarget(
            name: "LedgerTests",
            dependencies: [
                "FeedModel", "FeedStaging", "FeedStores", "Ledger", "StoreSQL", "SQLiteStore", "PostgresStore",
                "Simulator", "TestStores", "TestSupport", grdb,
            ],
            swiftSettings: testSettings),
        .testTarget(
            name: "MergingTests",
            dependencies: [
                "FeedModel", "FeedStaging", "FeedStores", "Ledger", "Merging", "SQLiteStore", "PostgresStore",
                "TestStores", "TestSupport", grdb,
            ],
            swiftSettings: testSettings),
        .testTarget(name: "XMLStreamTests", dependencies: ["XMLStream"], swiftSettings: testSettings),
        .testTarget(name: "XMLRecordsTests", dependencies: ["XMLRecords", "XMLStream"], swiftSettings: testSettings),
        .testTarget(
            name: "PrometheusMetricsTests", dependencies: ["PrometheusMetrics", coreMetrics, metrics],
            swiftSettings: testSettings),
        .testTarget(
            name: "TributaryWebTests",
            dependencies: [
                "TributaryWeb", "PrometheusMetrics", "TestSupport", "TestStores", metrics, logging,
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOEmbedded", package: "swift-nio"),
            ] + umbrella,
            swiftSettings: testSettings),
        .testTarget(
            name: "TOMLTests", dependencies: ["TOML", .product(name: "TOMLKit", package: "TOMLKit")],
            swiftSettings: testSettings),
        .testTarget(
            name: "SQLiteStoreTests",
            dependencies: [
                "FeedModel", "FeedStaging", "FeedStores", "Ledger", "StoreSQL", "SQLiteStore", "TestSupport", grdb,
            ],
            swiftSettings: testSettings),
        .testTarget(
            name: "FeedConfigurationTests",
            dependencies: house + ["TOML", "TestEngine", "TestStores", "TestSupport", grdb, logging],
            swiftSettings: testSettings),
        .testTarget(
            name: "FeedFetchingTests",
            dependencies: house + [
                "Locking", "CArchive", "CZlib", "TestEngine", "TestStores", "TestSupport", grdb, logging,
                "Cryptography",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
            ],
            swiftSettings: testSettings),
        .testTarget(
            name: "FeedParsingTests",
            dependencies: house + [
                "TOML", "TestEngine", "TestStores", "TestSupport", grdb,
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ],
            swiftSettings: testSettings),
        .testTarget(
            name: "FeedInferringTests", dependencies: house + ["TOML", "TestEngine", "TestStores", "TestSupport"],
            swiftSettings: testSettings),
        .testTarget(
            name: "FeedExportingTests", dependencies: house + ["TestEngine", "TestStores", "TestSupport", grdb],
            swiftSettings: testSettings),
        .testTarget(
            name: "TributaryStoresTests",
            dependencies: house + [
                "PostgresClient", "PostgresStore", "TestEngine", "TestStores", "TestSupport", grdb, logging,
            ],
            swiftSettings: testSettings),
        .testTarget(
            name: "TributaryEngineTests",
            dependencies: house + [
                "PostgresStore", "PrometheusMetrics", metrics, "TOML", "TestEngine", "TestSupport", "TestStores",
                "CJobHook", "PostgresServer", "PostgresClient", grdb, logging, "Cryptography",
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
            ],
            swiftSettings: testSettings),
        .testTarget(
            name: "TributaryParsersTests",
            dependencies: ["TributaryParsers", "Tributary", "TestSupport", "TestStores", grdb, logging],
            swiftSettings: testSettings),
        .testTarget(
            name: "CommandTests",
            dependencies: [
                "TributaryCommands", "TestSupport", "ContactsDaemon", "TributaryMain", "PostgresServer",
                "PostgresClient", "TestStores", "FeedConfiguration", "FeedDeclarations", "FeedParsing", "Ledger",
                "TributaryEngine", "Tributary", "TributaryParsers", grdb, logging, serviceLifecycle,
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            swiftSettings: testSettings),
        fuzzTarget,
        .testTarget(
            name: "RandomModelTests",
            dependencies: house + ["TributaryMain", "TestSupport", "TestStores", grdb, logging],
            swiftSettings: testSettings),
    ]
)
