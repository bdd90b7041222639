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
        let signals = [SIGINT, SIGTERM, SIGHUP].compactMap { source(of: $0, removing: path) }
        defer {
            try? FileManager.default.removeItem(atPath: path)
            for (signal, source) in signals {
                source.cancel()
                Foundation.signal(signal, SIG_DFL)
            }
        }
        return try await body(path)
    }

    /// - Returns: nil for a signal that this process ignores, as SIGHUP under nohup(1).
    private static func source(of signal: Int32, removing path: String) -> (Int32, any DispatchSourceSignal)? {
        var former = sigaction()
        sigaction(signal, nil, &former)
        guard former.__sigaction_handler.sa_handler == nil else { return nil }
        Foundation.signal(signal, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: signal, queue: .global())
        source.setEventHandler {
            // What is being written there cannot be made again once the folder is gone.
            for _ in 0..<3 where FileManager.default.fileExists(atPath: path) {
                try? FileManager.default.removeItem(atPath: path)
            }
            Foundation.signal(signal, SIG_DFL)
            kill(getpid(), signal)
        }
        source.resume()
        return (signal, source)
    }
}
