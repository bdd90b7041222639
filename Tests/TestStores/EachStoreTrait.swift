package import Testing

/// Runs each test over every store that there is on this machine.
package struct EachStoreTrait: SuiteTrait, TestTrait, TestScoping {
    package var isRecursive: Bool { true }

    @concurrent
    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable @concurrent () async throws -> Void
    ) async throws {
        for kind in StoreKind.allCases where kind.isAvailable {
            let naming = IssueHandlingTrait.compactMapIssues { issue in
                var issue = issue
                issue.comments.append("over \(kind.rawValue)")
                return issue
            }
            try await naming.provideScope(for: test, testCase: testCase) {
                do {
                    try await StoreKind.$current.withValue(kind) { try await function() }
                } catch is ExpectationFailedError {
                    // It has been recorded, and the other store is still to be seen.
                } catch {
                    Issue.record(error, sourceLocation: test.sourceLocation)
                }
            }
        }
    }
}

extension Trait where Self == EachStoreTrait {
    package static var onEachStore: Self { Self() }
}
