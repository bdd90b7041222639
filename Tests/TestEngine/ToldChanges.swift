package import FeedModel

/// What a plan tells, as `delete 3`: the operation and the value of the row's first column.
package final class ToldChanges: Sendable {
    private let changes = Mutex<[String]>([])

    package init() {}

    package var all: [String] { changes.withLock { $0.sorted() } }

    package func add(_ change: PlannedChange) {
        let operation =
            switch change.operation {
            case .insert: "insert"
            case .update: "update"
            case .delete: "delete"
            }
        let value = if case .text(let text)? = change.row.first?.value { text } else { "" }
        changes.withLock { $0.append("\(operation) \(value)") }
    }
}
