import FeedModel
@testable import FeedStore

/// What author D writes.
extension Merge {
    func checkCircles(_ parts: [StagedStack.Part]) throws {}
    func prepareReferences(_ part: StagedStack.Part) throws {}
    func resolveReferences(_ part: StagedStack.Part, among parts: [StagedStack.Part]) throws {}
    func resolveCycles(_ part: StagedStack.Part, among parts: [StagedStack.Part]) throws {}
    func isTree(_ part: StagedStack.Part) -> Bool { false }
    func mergeTree(_ part: StagedStack.Part) throws -> MergeCounts { MergeCounts() }
    func hasParents(_ table: StagingTable) -> String { "true" }
    func isChildOfStagedParent(_ within: RowShape.Within) -> String { "false" }
    func combined(_ parts: [StagedStack.Part]) throws -> [StagedStack.Part] { parts }
    func noteMovedRows(_ table: StagingTable, from rows: String) throws {}
    func tell(_ table: StagingTable, _ operation: PlannedChange.Operation, sql: String) throws {}
    func tellUpdates(_ difference: Difference) throws {}
    func tellTaken(_ taken: [ChangedRows], besides told: ChangedRows? = nil) throws -> () throws -> Void { {} }
}
