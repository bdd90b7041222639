import FeedModel

/// What is done with the files of a request once their rows are committed (`after_commit`).
package enum FileAction: Sendable, Hashable {
    case delete
    /// - Parameter folder: the path of the folder, relative to that of the files, or absolute.
    case move(to: String)

    /// The action, as the page shows it.
    package var text: String {
        switch self {
        case .delete: "delete"
        case .move(let folder): "move to \(folder)"
        }
    }
}

/// The word that `after_commit` takes in place of a table.
enum FileActionWord: String, Sendable, CaseIterable { case delete }
