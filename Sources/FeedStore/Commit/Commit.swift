package import FeedModel
package import Foundation

/// Everything that one transaction writes besides the staged rows.
package struct Commit: Sendable {
    package var report: RunReport
    package var requests: [RequestState]
    /// Of these, those whose rows are as they were: what was known when they were sent, by key.
    package var revalidated: [String: RequestState] = [:]
    /// The source's state after this commit.
    package var state: SourceState
    /// What the changed requests mirror, whether they staged a row of it or none.
    package var mirrors: [MirroredRows]
    /// The keys of requests that the stack no longer has.
    package var forgottenKeys: [String]
    /// Told inside the transaction which requests of other sources have written into what is mirrored, and how its table
    /// compares values; throws where they mirror it, too.
    package typealias MirrorCheck = @Sendable (MirroredRows, [RequestID], TableComparison) throws -> Void
    package var checkMirrors: MirrorCheck?
    /// An origin that asked to be left alone, until when, and how many seconds that was.
    package var busyHost: (origin: String, notBefore: Date, wait: Double)?
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

    /// The requests whose rows this commit brings.
    var changedRequests: Set<RequestID> {
        Set(
            requests.filter { revalidated[$0.key] == nil }.map { RequestID(source: report.source, key: $0.key) })
    }

    /// Lets requests whose rows are not all in their scope claim whatever their tables hold.
    mutating func widenScopes(of strays: Set<MirroredRows>) {
        for stray in strays {
            for index in requests.indices where requests[index].scope == stray.scope {
                let tables = requests[index].tables.map { $0.lowercased() }
                if tables.contains(stray.table.lowercased()) { requests[index].scope = [:] }
            }
        }
    }
}
