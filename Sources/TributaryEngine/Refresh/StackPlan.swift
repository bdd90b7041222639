import FeedConfiguration
package import FeedModel
import FeedParsing
import FeedStaging
package import FeedStores

/// The unmapped parts of a run's documents, each path once.
struct UnmatchedPaths {
    private struct Place: Hashable {
        var request: String
        var path: String
    }

    /// The first ``MappingHandler/mostNoted`` paths of one kind, in the order in which they were found. Where names are
    /// data, each document has others.
    private struct Paths {
        var order: [Place] = []
        var counts: [Place: Int] = [:]
        /// The paths that another response matched.
        var used: Set<Place> = []

        mutating func add(_ found: [UnmatchedPath], used names: some Sequence<String>, of request: String) {
            for path in found {
                let place = Place(request: request, path: path.path)
                if counts[place] == nil {
                    guard order.count < MappingHandler.mostNoted else { continue }
                    order.append(place)
                }
                counts[place, default: 0] += path.count
            }
            for name in names where used.count < MappingHandler.mostNoted {
                used.insert(Place(request: request, path: name))
            }
        }

        var unmatched: [UnmatchedPath] {
            order.filter { !used.contains($0) }.map {
                UnmatchedPath(request: $0.request, path: $0.path, count: counts[$0] ?? 0)
            }
        }
    }

    private var elementPaths = Paths()
    private var columnPaths = Paths()

    /// The elements and attributes without a record or column in any response.
    var elements: [UnmatchedPath] { elementPaths.unmatched }

    /// The columns without a value in any record of any response.
    var columns: [UnmatchedPath] { columnPaths.unmatched }

    /// Notes a parsed response.
    mutating func note(_ handler: MappingHandler, of request: RequestDeclaration) {
        let key = request.key
        let elements = handler.unmatchedElements(request: key, captured: request.capturedPaths)
        elementPaths.add(elements, used: handler.usedElements, of: key)
        columnPaths.add(handler.unmatchedColumns(request: key), used: handler.filledColumns, of: key)
    }
}

/// The changes that a run would make, and the unmapped parts of its documents.
package struct StackPlan: Sendable {
    package typealias Unmatched = UnmatchedPath

    package var counts = MergeCounts()
    package var skipped = 0
    /// The reasons for which records are skipped, with the number of records of each.
    package var skipReasons: [String] = []
    package var requests: [RequestReport] = []
    package var elements: [Unmatched] = []
    package var columns: [Unmatched] = []
    /// Notes on rows that a commit would leave out, with reasons.
    package var notes: [String] = []
    /// What the run would do with files (`after_commit`), by request.
    package var files: [String] = []

    /// The reason why a run would be blocked; nil if it would be committed.
    package var blocked: String?

    /// A digest of the documents and the declaration of a replay.
    package var basis: ChangeDigest?

    /// True if a commit would change rows.
    package var changesRows: Bool { counts.changed > 0 }

    /// True if a run would change rows or files.
    package var differs: Bool { changesRows || !files.isEmpty }
}
