import Foundation

/// Standard input in place of a file, where a command line has `-`.
enum StandardInput {
    static let name = "-"

    /// Runs a body with the path of a file that has what standard input brings. It may be read more than once.
    static func asFile<Value>(_ body: (String) async throws -> Value) async throws -> Value {
        try await PrivateFolder.with("input") { folder in
            let path = folder + "/input"
            try copy(to: path)
            return try await body(path)
        }
    }

    /// - Throws: ``Failure`` where it cannot be read, or where the file cannot be written.
    private static func copy(to path: String) throws {
        do {
            try Data().write(to: URL(fileURLWithPath: path))
            let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
            defer { try? file.close() }
            while let piece = try FileHandle.standardInput.read(upToCount: 1 << 20), !piece.isEmpty {
                try file.write(contentsOf: piece)
            }
        } catch {
            throw Failure.failed("standard input cannot be copied to \(path): \(error.localizedDescription)")
        }
    }
}
