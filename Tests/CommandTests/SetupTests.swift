import Foundation
import Testing

/// What a machine needs that has never built this project. `Scripts/trials/fresh` tries it on one.
@Suite(.timeLimit(.minutes(5))) struct SetupTests {
    private static let root = URL(fileURLWithPath: #filePath + "/../../..").standardized

    private func text(_ path: String) throws -> String {
        try String(contentsOf: Self.root.appendingPathComponent(path), encoding: .utf8)
    }

    /// The packages that `Scripts/setup` installs whatever it is asked for.
    private func installed() throws -> Set<String> {
        let process = Process()
        let output = Pipe()
        process.executableURL = Self.root.appendingPathComponent("Scripts/setup")
        process.arguments = ["--list"]
        process.standardOutput = output
        try process.run()
        let list = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        return Set(String(decoding: list, as: UTF8.self).split(separator: "\n").map(String.init))
    }

    @Test func everySystemLibraryIsInstalledWithItsHeaders() throws {
        let libraries = try text("Package.swift").matches(of: /\.systemLibrary\(([^\]]*)\]/)
        #expect(libraries.count >= 3)
        let installed = try installed()
        for library in libraries {
            let package = try #require(
                library.1.firstMatch(of: /\.apt\(\["([^"]+)"/)?.1, "\(library.1) names no package")
            #expect(installed.contains(String(package)), "Scripts/setup does not install \(package)")
        }
        #expect(installed.contains("pkg-config"))
    }
}
