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

/// A product of another package.
func product(_ name: String, _ package: String) -> Target.Dependency { .product(name: name, package: package) }

/// Modules of swift-nio.
func nio(_ modules: String...) -> [Target.Dependency] { modules.map { product("NIO\($0)", "swift-nio") } }

let grdb = product("GRDB", "GRDB.swift")
let sqlite = product("GRDBSQLite", "GRDB.swift")
let logging = product("Logging", "swift-log")
let metrics = product("Metrics", "swift-metrics")
let httpClient = product("AsyncHTTPClient", "async-http-client")
let nioSSL = product("NIOSSL", "swift-nio-ssl")
let asyncAlgorithms = product("AsyncAlgorithms", "swift-async-algorithms")
let serviceLifecycle = product("ServiceLifecycle", "swift-service-lifecycle")
let unixSignals = product("UnixSignals", "swift-service-lifecycle")
let collections = [product("DequeModule", "swift-collections"), product("HeapModule", "swift-collections")]

/// The targets behind `Tributary`, each knowing only those before it, but for the stores and fetching, which do not know
/// each other. `Documentation/Architecture.md` says what each is for.
let house: [Target.Dependency] = [
    "XMLStream", "XMLRecords", "FeedModel", "FeedConfiguration", "FeedStaging", "FeedStores", "SQLiteStore",
    "FeedFetching", "FeedParsing", "FeedInferring", "FeedExporting", "TributaryEngine", "TributaryStores",
]

/// What knows the stores in general.
let stores: [Target.Dependency] = ["FeedModel", "FeedStaging", "FeedStores", grdb]

/// What users of `Tributary` import. The targets that it re-exports are named besides because a build does not notice a
/// change that reaches a target through a re-export only.
let umbrella: [Target.Dependency] = ["Tributary", grdb] + house

/// A target in `Sources`.
func target(
    _ name: String, _ dependencies: [Target.Dependency] = [], resources: [Resource]? = nil
) -> Target {
    .target(name: name, dependencies: dependencies, resources: resources, swiftSettings: swiftSettings)
}

/// What several targets of tests use, in `Tests`.
func support(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(name: name, dependencies: dependencies, path: "Tests/\(name)", swiftSettings: swiftSettings)
}

/// The tests in `Tests/NAMETests`.
func tests(_ name: String, _ dependencies: [Target.Dependency], exclude: [String] = []) -> Target {
    .testTarget(
        name: "\(name)Tests", dependencies: dependencies + ["TestSupport"], exclude: exclude,
        swiftSettings: testSettings)
}

/// The tests of a part of the house, which run it between a publisher and a store.
func engineTests(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    tests(name, house + ["TestEngine", "TestStores", grdb, logging] + dependencies)
}

/// What `Scripts/fuzz` builds under coverage with libFuzzer is the same code that the suite runs; a target is either.
let fuzzDependencies: [Target.Dependency] = house + ["TributaryParsers", grdb, logging]
let fuzzTarget: Target =
    ProcessInfo.processInfo.environment["TRIBUTARY_FUZZ"] == nil
    ? tests("Fuzz", fuzzDependencies, exclude: ["Corpus", "Fuzzer"])
    : .executableTarget(
        name: "fuzz", dependencies: fuzzDependencies + ["TestSupport"], path: "Tests/FuzzTests",
        exclude: ["Corpus", "FuzzTests.swift"], swiftSettings: swiftSettings, linkerSettings: [.linkedLibrary("stdc++")]
    )

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
        // libpq and libcurl, loaded when a store or a request needs them; the commit that a program names.
        .target(name: "CLibPQ"), .target(name: "CCurl"), .target(name: "CBuildCommit", cSettings: commit),

        target("XMLStream", ["CLibXML2"]),
        target("XMLRecords", ["XMLStream"]),
        // The values that everybody passes on.
        target("FeedModel", ["CBuildCommit", "CNettle"]),
        // What `sources.toml` can say, as values, and what reads it: TOML to declarations, or every mistake in it.
        target("FeedConfiguration", ["XMLStream", "FeedModel", nioSSL]),
        // Rows from a parser to batches, and to a scratch database when they are many.
        target("FeedStaging", ["FeedModel", grdb, sqlite]),
        // What every main store promises, Tributary's own tables, and what a commit does to rows, in either database.
        target("FeedStores", ["FeedModel", "FeedStaging"]),
        target("SQLiteStore", stores + ["XMLStream", "CSQLite", sqlite]),
        target("PostgresStore", stores + ["CLibPQ", sqlite]),
        // A request to a response.
        target(
            "FeedFetching",
            ["XMLStream", "FeedModel", "FeedConfiguration", "CArchive", "CCurl", "CZlib", nioSSL, httpClient]
                + nio("Core", "HTTP1", "Posix") + collections),
        // A body to staged rows.
        target(
            "FeedParsing", ["XMLStream", "XMLRecords", "FeedModel", "FeedConfiguration", "FeedStaging", grdb, sqlite]),
        // A document to a mapping for it.
        target("FeedInferring", ["XMLStream", "FeedConfiguration"]),
        // Rows to a document.
        target("FeedExporting", stores + ["XMLStream", "FeedConfiguration", "FeedParsing", "CSQLite"]),
        // Runs and their order; due times; events.
        target(
            "TributaryEngine",
            stores + [
                "XMLStream", "XMLRecords", "FeedConfiguration", "FeedFetching", "FeedParsing", "FeedInferring", logging,
                metrics, serviceLifecycle,
            ] + nio("Core", "Posix") + collections),
        // The stores that there are, and the engine on one of them.
        target(
            "TributaryStores",
            stores + ["FeedConfiguration", "FeedParsing", "SQLiteStore", "PostgresStore", "TributaryEngine", logging]),
        // What a daemon shows over HTTP: the page, metrics, health.
        target(
            "TributaryWeb",
            [
                "FeedModel", "FeedConfiguration", "FeedFetching", "FeedStores", "TributaryEngine", logging,
                serviceLifecycle, asyncAlgorithms, product("CoreMetrics", "swift-metrics"),
                product("Hummingbird", "hummingbird"), product("HummingbirdCore", "hummingbird"),
                product("Mustache", "swift-mustache"),
            ] + nio("Core", "HTTP1", "Posix") + collections,
            resources: [.embedInCode("Resources")]),
        target(
            "TributaryCommands",
            house + [
                "TributaryWeb", "CSQLite", grdb, logging, serviceLifecycle, unixSignals, asyncAlgorithms, httpClient,
                product("ArgumentParser", "swift-argument-parser"),
            ] + nio("Core", "HTTP1")),
        // What users import: the engine, the commands and what parsers use under one name.
        target("Tributary", house + ["TributaryCommands"]),
        // Parsers for formats that everybody meets; the reference for authors of parsers.
        target("TributaryParsers", umbrella),
        .executableTarget(
            name: "TributaryMain", dependencies: ["TributaryParsers"] + umbrella, swiftSettings: swiftSettings),
        .executableTarget(
            name: "ContactsDaemon", dependencies: umbrella, exclude: ["sources.toml"], swiftSettings: swiftSettings),

        // How many tests run at once; the hook with which tests watch the jobs of executors.
        .target(name: "CTestWidth", path: "Tests/CTestWidth"), .target(name: "CJobHook", path: "Tests/CJobHook"),
        support("TestSupport", ["CTestWidth", "FeedModel", "TributaryEngine", grdb, nioSSL] + nio("Core", "Posix")),
        support("PostgresServer", ["PostgresStore", "TestSupport"]),
        // The store of a test, over each kind of which the test runs.
        support("TestStores", ["FeedModel", "FeedStaging", "PostgresStore", "PostgresServer", "TestSupport", grdb]),
        // The engine between a publisher and a store of a test.
        support("TestEngine", house + ["TestStores", "TestSupport", "CArchive", "CZlib", grdb, logging]),
        // Whole daemons, publishers and stores in one thread, from a seed.
        support(
            "Simulator",
            house + ["CJobHook", "TestSupport", grdb, logging, httpClient] + nio("Core", "HTTP1") + collections),
        .executableTarget(
            name: "simulate", dependencies: ["Simulator"], path: "Tests/simulate", swiftSettings: swiftSettings),

        tests("XMLStream", ["XMLStream"]),
        tests("XMLRecords", ["XMLRecords", "XMLStream"]),
        tests("TOML", ["FeedConfiguration", product("TOMLKit", "TOMLKit")]),
        // What both stores decide, over each of them.
        tests("Ledger", stores + ["SQLiteStore", "PostgresStore", "Simulator", "TestStores"]),
        tests("Merging", stores + ["SQLiteStore", "PostgresStore", "TestStores"]),
        tests("SQLiteStore", stores + ["SQLiteStore"]),
        tests("PostgresClient", ["PostgresStore", "PostgresServer"]),
        tests("PostgresStore", stores + ["PostgresStore", "PostgresServer", "TestStores"]),
        engineTests("FeedConfiguration"),
        engineTests("FeedFetching", ["CArchive", "CZlib", httpClient] + nio("Core", "HTTP1", "Embedded")),
        engineTests("FeedParsing", [sqlite]),
        engineTests("FeedInferring"),
        engineTests("FeedExporting"),
        engineTests(
            "TributaryEngine",
            ["PostgresStore", "TributaryWeb", "PostgresServer", "CJobHook", metrics] + nio("Core", "HTTP1", "Embedded")),
        engineTests("TributaryStores", ["PostgresStore"]),
        tests("PrometheusMetrics", ["TributaryWeb", product("CoreMetrics", "swift-metrics"), metrics]),
        tests("TributaryWeb", ["TributaryWeb", "TestStores", metrics, logging] + nio("Core", "Embedded") + umbrella),
        tests("TributaryParsers", ["TributaryParsers", "Tributary", "TestStores", grdb, logging]),
        tests(
            "Command",
            umbrella + [
                "TributaryCommands", "ContactsDaemon", "TributaryMain", "TributaryParsers", "PostgresStore",
                "PostgresServer", "TestEngine", "TestStores", logging, serviceLifecycle, unixSignals,
            ]),
        tests("Simulator", ["simulate"], exclude: ["Mutants"]),
        tests("RandomModel", house + ["TributaryMain", "TestStores", grdb, logging]),
        fuzzTarget,
    ]
)
