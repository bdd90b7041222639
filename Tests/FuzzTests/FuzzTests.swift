import Foundation
import Testing

/// What others decide, broken in every way that a mutation finds: refused with an error that somebody can act on, or taken,
/// within a time and a memory that its size allows; never a trap.
///
/// `TRIBUTARY_FUZZ_ITERATIONS` says how many mutations of each kind are tried, `TRIBUTARY_FUZZ_SEED` which, and
/// `TRIBUTARY_FUZZ_KINDS` (`json,toml`) of which kinds. `Scripts/fuzz` does it guided by coverage.
@Suite struct FuzzTests {
    private static let environment = ProcessInfo.processInfo.environment
    static let kinds = FuzzKind.allCases.filter { kind in
        environment["TRIBUTARY_FUZZ_KINDS"].map { $0.split(separator: ",").contains("\(kind)") } ?? true
    }

    @Test(arguments: kinds) func noInputIsTooBrokenToBeRefused(_ kind: FuzzKind) async throws {
        var driver = FuzzDriver(kind: kind, iterations: kind.iterations)
        if let seed = Self.environment["TRIBUTARY_FUZZ_SEED"].flatMap({ UInt64($0) }) { driver.seed = seed }
        if let iterations = Self.environment["TRIBUTARY_FUZZ_ITERATIONS"].flatMap({ Int($0) }) {
            driver.iterations = iterations
            driver.largest = 16 << 10
        }
        let taken = try await onThread { [driver] in try driver.run() }
        // A target that refuses everything would find nothing.
        #expect(taken > 0, "\(kind): every input was refused")
    }

    /// Parsing and staging block their thread.
    private func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let thread = Thread { continuation.resume(with: Result { try body() }) }
            // As the threads have on which runs are parsed.
            thread.stackSize = 8 << 20
            thread.start()
        }
    }
}
