package import Foundation

/// Everything that one transaction writes besides the staged rows.
package struct Commit: Sendable {
    package var report: RunReport
    package var requests: [RequestState]
    /// The source's state after this commit.
    package var state: SourceState
    /// What the changed requests mirror, whether they staged a row of it or none.
    package var mirrors: [MirroredRows]
    /// The keys of requests that the stack no longer has.
    package var forgottenKeys: [String]
    /// Told inside the transaction which requests of other sources have written into what is mirrored; throws where they
    /// mirror it, too.
    package var checkMirrors: (@Sendable (MirroredRows, [RequestID]) throws -> Void)?
    /// An origin that asked to be left alone, and until when.
    package var busyHost: (origin: String, notBefore: Date)?
    /// Runs that began before are forgotten, with their part of the journal.
    package var forgetBefore: Date

    package init(
        report: RunReport, requests: [RequestState], state: SourceState,
        mirrors: [MirroredRows] = [], forgottenKeys: [String] = [], forgetBefore: Date
    ) {
        self.report = report
        self.requests = requests
        self.state = state
        self.mirrors = mirrors
        self.forgottenKeys = forgottenKeys
        self.forgetBefore = forgetBefore
    }
}
