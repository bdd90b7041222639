package import FeedModel

/// The rows of those keys that some parts of a stack have and no other part has, as one part: its columns, and the parts
/// that give each its values. A column that several parts have comes from the latest of them.
package struct OverlaidShape {
    package struct Column {
        package var column: StoredTable.Column
        /// The positions of the parts; the latest one gives the value.
        package var writers: [Int]
    }

    /// The table of the part, still with the name of the first part's.
    package private(set) var table: StagingTable
    package private(set) var columns: [Column] = []
    /// The tables and scopes of the parts, where there are several: a row of several scopes is in at most one of them.
    package let outOfScopeRows: Set<MirroredRows>

    /// - Parameter members: the positions of the parts that have the keys.
    package init(_ members: [Int], of parts: [StagedStack.Part]) {
        let isOfManyScopes = Set(members.map { parts[$0].table.scope }).count > 1
        outOfScopeRows = Set(
            members.map { parts[$0].table }.filter { isOfManyScopes && !$0.scope.isEmpty }.map {
                MirroredRows(table: $0.table.name, scope: $0.scope)
            })
        table = parts[members[0]].table
        table.columns = []
        table.constants = []
        table.references = []
        table.enclosing = []
        table.ignored = []
        table.insertOnly = []
        table.numbersRecords = false
        table.marksDeleted = false
        let updating = Set(members.filter { parts[$0].table.sync == .upsert || parts[$0].table.sync == .mirror })
        table.sync = updating.isEmpty ? .insert : .upsert
        var suppliers: [String: [Int]] = [:]
        for member in members {
            for column in parts[member].table.allColumns {
                let name = column.name.lowercased()
                if suppliers[name] == nil { table.columns.append(column) }
                suppliers[name, default: []].append(member)
            }
        }
        for column in table.columns {
            let name = column.name.lowercased()
            let all = suppliers[name, default: []]
            let writers = all.filter { updating.contains($0) && !parts[$0].table.insertOnly.contains(name) }
            if writers.isEmpty { table.insertOnly.insert(name) }
            columns.append(Column(column: column, writers: writers.isEmpty ? all : writers))
        }
    }
}
