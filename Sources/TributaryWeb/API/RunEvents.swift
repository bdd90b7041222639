import FeedModel
import FeedStores
import TributaryEngine

/// The events of recorded runs, of this process and others. An event's id is the run's position, after which a client that
/// sends it back continues.
struct RunEvents: EventSource {
    /// The most runs of one piece. The next is read when this one has been written.
    private static let mostRuns = 200

    let store: StoreQueue
    /// Empty for all.
    let sources: Set<String>
    /// The place behind which the next runs are.
    var position: RunPosition

    mutating func next() async throws -> (text: String, isLast: Bool) {
        let page = try await store.read { [position] in
            try $0.read { try $0.changelog.page(after: position, limit: Self.mostRuns) }
        }
        var text = page.hasForgotten ? "event: forgotten\ndata: {\"after\":\"\(position.text)\"}\n\n" : ""
        for run in page.runs {
            position = run.position
            guard sources.isEmpty || sources.contains(run.report.source) else { continue }
            text += "event: run\nid: \(position.text)\ndata: \(try JSONOutput.line(RunRecord(run.report)))\n\n"
        }
        return (text, page.runs.count < Self.mostRuns)
    }
}
