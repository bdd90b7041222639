package import Foundation

/// Everything that one transaction writes besides the staged rows.
package struct Commit: Sendable {
    package var report: RunReport
    package var requests: [RequestState]
    /// The source's state after this commit.
    package var state: SourceState
    /// Tables that requests mirror although they staged no row for them, with the scope.
    package var emptyMirrors: [(table: String, scope: [String: String])]
    /// The keys of requests that the stack no longer has.
    package var forgottenKeys: [String]
    /// Told what other sources mirror, inside the transaction; throws where that cannot be.
    package var checkMirrors: (@Sendable ([(source: String, state: RequestState)]) throws -> Void)?
    /// An origin that asked to be left alone, and until when.
    package var busyHost: (origin: String, notBefore: Date)?
    /// Runs that began before are forgotten, with their part of the journal.
    package var forgetBefore: Date

    package init(
        report: RunReport, requests: [RequestState], state: SourceState,
        emptyMirrors: [(table: String, scope: [String: String])] = [], forgottenKeys: [String] = [], forgetBefore: Date
    ) {
        self.report = report
        self.requests = requests
        self.state = state
        self.emptyMirrors = emptyMirrors
        self.forgottenKeys = forgottenKeys
        self.forgetBefore = forgetBefore
    }
}
