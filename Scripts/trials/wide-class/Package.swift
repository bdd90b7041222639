// swift-tools-version: 6.1
import PackageDescription

// A program of a user's own, with one registered class, for Scripts/trials/wide-elements.
let package = Package(
    name: "wide-class",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "tributary", path: "../../..")],
    targets: [
        .executableTarget(name: "wide-daemon", dependencies: [.product(name: "Tributary", package: "tributary")])
    ]
)
