// swift-tools-version: 6.1
import PackageDescription

// A package of its own: Tributary does not depend on what it is compared with.
let package = Package(
    name: "bench-records",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "tributary", path: "../.."),
        .package(url: "https://github.com/CoreOffice/XMLCoder", exact: "0.18.2"),
    ],
    targets: [
        .executableTarget(
            name: "bench-records",
            dependencies: [.product(name: "Tributary", package: "tributary"), "XMLCoder"])
    ]
)
