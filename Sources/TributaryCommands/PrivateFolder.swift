import Foundation

/// A folder among the temporary files that only this user can enter, for the time of one body.
enum PrivateFolder {
    /// Runs a body with the path of a new folder, and removes the folder afterwards. SIGINT, SIGTERM and SIGHUP remove it,
    /// too, and end the process as they do by default.
    ///
    /// - Parameter purpose: a word in the folder's name.
    /// - Throws: ``Failure`` where the folder cannot be made; the errors of the body.
    static func with<Value>(_ purpose: String, _ body: (String) async throws -> Value) async throws -> Value {
        let parent = FileManager.default.temporaryDirectory.path
        var template = Array("\(parent)/tributary-\(purpose)-XXXXXX".utf8CString)
        // Made for its user alone (mkdtemp(3)).
        guard mkdtemp(&template) != nil else {
            throw Failure.failed(
                "no folder can be made in \(parent): \(String(cString: strerror(errno))); TMPDIR may name another place"
            )
        }
        // What is made in it, SQLite's files among it, is for its user alone as well.
        let mask = umask(0o077)
        defer { umask(mask) }
        let path = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
        return try await SignalCleanUp.removing(path) {
            defer { try? FileManager.default.removeItem(atPath: path) }
            return try await body(path)
        }
    }
}
