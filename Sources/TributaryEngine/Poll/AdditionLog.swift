import FeedModel
import Locking

/// The tables and columns that a run has made before its commit.
final class AdditionLog: Sendable {
    private let additions = Mutex<[SchemaAddition]>([])

    var all: [SchemaAddition] { additions.withLock { $0 } }

    func note(_ made: [SchemaAddition]) { additions.withLock { $0 += made } }
}
