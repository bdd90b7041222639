import Foundation
import Synchronization
import TestSupport
import Testing

@testable import SQLiteStore

/// The locks of a store's lock file.
@Suite struct RunLockTests {
    private static let signals = Atomic<Int>(0)

    /// A signal that a handler takes ends a system call that waits.
    @Test func aSignalDoesNotEndTheWait() async throws {
        try await withTemporaryFolder { (folder) async throws in
            let path = folder.file("store.sqlite")
            let first = try #require(try RunLock(schemaOf: path))
            var action = sigaction()
            action.__sigaction_handler.sa_handler = { _ in Self.signals.add(1, ordering: .relaxed) }
            sigaction(SIGURG, &action, nil)
            let waiting = Mutex<(thread: pthread_t, folder: String)?>(nil)
            let result = Mutex<Result<RunLock?, any Error>?>(nil)
            let thread = Thread {
                let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")) ?? ""
                waiting.withLock { $0 = (pthread_self(), own) }
                let lock = Result { try RunLock(schemaOf: path) }
                result.withLock { $0 = lock }
            }
            thread.start()
            func waiter() -> (thread: pthread_t, folder: String)? { waiting.withLock(\.self) }
            while waiter() == nil { await Task.yield() }
            let known = try #require(waiter())
            // Asleep: in the system call, as it waits for nothing else.
            func isAsleep() throws -> Bool {
                let text = try String(contentsOfFile: "/proc/\(known.folder)/stat", encoding: .utf8)
                return text.split(separator: ")").last?.hasPrefix(" S") == true
            }
            while try !isAsleep() { await Task.yield() }
            pthread_kill(known.thread, SIGURG)
            while Self.signals.load(ordering: .relaxed) == 0 { await Task.yield() }
            first.unlock()
            while result.withLock({ $0 == nil }) { await Task.yield() }
            let second = try result.withLock { try $0?.get() }
            second?.unlock()
            #expect(second != nil)
        }
    }
}
