import Foundation
import FeedModel

/// The temporary files of a command. SIGINT, SIGTERM and SIGHUP remove all of them, and then end the process as they do
/// by default. A signal that the process ignores, as SIGHUP under nohup(1), stays ignored.
enum SignalCleanUp {
    private struct State {
        var paths: [String] = []
        /// The signals that are trapped while there are paths.
        var trapped: [(signal: Int32, source: any DispatchSourceSignal)] = []
    }

    private static let state = Mutex(State())

    /// Runs a body during which signals remove a file or a folder. What the body leaves is not removed.
    static func removing<Value>(_ path: String, _ body: () async throws -> Value) async rethrows -> Value {
        begin(path)
        defer { end(path) }
        return try await body()
    }

    private static func begin(_ path: String) {
        state.withLock { state in
            state.paths.append(path)
            if state.trapped.isEmpty { state.trapped = [SIGINT, SIGTERM, SIGHUP].compactMap(trap) }
        }
    }

    private static func end(_ path: String) {
        state.withLock { state in
            if let index = state.paths.lastIndex(of: path) { state.paths.remove(at: index) }
            guard state.paths.isEmpty else { return }
            for (signal, source) in state.trapped {
                source.cancel()
                Foundation.signal(signal, SIG_DFL)
            }
            state.trapped = []
        }
    }

    /// - Returns: nil for a signal that this process ignores or handles.
    private static func trap(_ signal: Int32) -> (signal: Int32, source: any DispatchSourceSignal)? {
        var former = sigaction()
        sigaction(signal, nil, &former)
        guard former.__sigaction_handler.sa_handler == nil else { return nil }
        Foundation.signal(signal, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: signal, queue: .global())
        source.setEventHandler {
            for path in state.withLock({ $0.paths }) {
                // What is being written there cannot be made again once the folder is gone.
                for _ in 0..<3 where FileManager.default.fileExists(atPath: path) {
                    try? FileManager.default.removeItem(atPath: path)
                }
            }
            Foundation.signal(signal, SIG_DFL)
            kill(getpid(), signal)
        }
        source.resume()
        return (signal, source)
    }
}
