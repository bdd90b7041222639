import Foundation

/// A folder of its own for one test, removed after it.
package struct TemporaryFolder: Sendable {
    package let path: String

    package func file(_ name: String) -> String { path + "/" + name }

    @discardableResult
    package func write(_ text: String, to name: String) throws -> String {
        try text.write(toFile: file(name), atomically: true, encoding: .utf8)
        return file(name)
    }
}

/// The files of a folder; none where there is no such folder.
package func files(in folder: String) throws -> [String] {
    guard FileManager.default.fileExists(atPath: folder) else { return [] }
    return try FileManager.default.contentsOfDirectory(atPath: folder)
}

package func withTemporaryFolder<Value>(_ body: (TemporaryFolder) async throws -> Value) async throws -> Value {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("tributary-test-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: path) }
    return try await body(TemporaryFolder(path: path))
}
