package import FeedModel
package import Foundation

/// The keys of a request for missing and for expired rows.
extension RequestDeclaration {
    /// Returns the column that marks a table's rows as deleted; nil if the request does not mirror the table, or
    /// deletes its rows.
    package func deletionMark(of table: String) -> String? {
        guard let mapping = content.mapping else { return mirrors(table) ? deleted : nil }
        return mapping.tables(named: table).lazy.compactMap(deletionMark).first
    }

    package func deletionMark(of table: TableMapping) -> String? {
        sync(of: table) == .mirror || table.deletedWhen != nil ? table.deleted ?? deleted : nil
    }

    /// Returns how old a table's rows may become; nil if they stay.
    package func expiry(of table: String) -> RowExpiry? {
        guard let mapping = content.mapping else { return expiry }
        return mapping.tables(named: table).lazy.compactMap(expiry).first
    }

    package func expiry(of table: TableMapping) -> RowExpiry? { table.expiry ?? expiry }

    /// True if any table's rows are marked as deleted, or expire.
    package var retainsRows: Bool {
        guard let mapping = content.mapping else { return deleted != nil || expiry != nil }
        return mapping.tables.contains {
            $0.deletedWhen != nil || deletionMark(of: $0) != nil || expiry(of: $0) != nil
        }
    }

    /// Returns the expiry of a table's rows at a commit; nil if they stay.
    package func expiry(of table: String, at time: Date) -> Retention.Expiry? {
        guard let expiry = expiry(of: table) else { return nil }
        var retained = Retention.Expiry(
            table: table, scope: scope, column: expiry.column, end: time - expiry.after.seconds)
        guard let mapping = content.mapping else {
            retained.mayLackColumn = true
            return retained
        }
        let own = mapping.tables(named: table)
        retained.isOfDays = own.contains { $0.column(expiry.column)?.type == .date }
        retained.mayLackColumn = own.allSatisfy { $0.expiry == nil }
        retained.descendants = mapping.descendants(of: table)
        return retained
    }
}

extension SourceDeclaration {
    /// Returns what becomes at a commit of rows that the source's feeds no longer have, or that are too old.
    ///
    /// - Parameter tables: returns the tables that a request is known to write.
    package func retention(at time: Date, tables: (RequestDeclaration) -> Set<String>) -> Retention {
        requests.filter(\.retainsRows).reduce(into: Retention(time: time)) { retention, request in
            var names = tables(request)
            if let mapping = request.content.mapping {
                // In whatever case, each once.
                let known = Set(names.map { $0.lowercased() })
                names.formUnion(mapping.tables.map(\.table).filter { !known.contains($0.lowercased()) })
                for table in mapping.tables where table.deletedWhen != nil {
                    retention.deletedWithin[table.table.lowercased()] = mapping.descendants(of: table.table)
                }
            }
            for name in names.sorted() {
                if let gone = request.deletionMark(of: name) { retention.deletionMarks[name.lowercased()] = gone }
                if let expiry = request.expiry(of: name, at: time), !retention.expiries.contains(expiry) {
                    retention.expiries.append(expiry)
                }
            }
        }
    }
}

extension RequestMapping {
    /// Returns the tables whose records are mapped within those of a table, each after its parent.
    fileprivate func descendants(of table: String) -> [Retention.Expiry.Descendant] {
        var found: [Retention.Expiry.Descendant] = []
        var known: Set<String> = [table.lowercased()]
        var open = [table.lowercased()]
        while let outer = open.popLast() {
            for inner in tables where !known.contains(inner.table.lowercased()) {
                for column in inner.columns {
                    guard case .parent(let parent) = column.origin, parent.lowercased() == outer else { continue }
                    found.append(.init(table: inner.table, column: column.name, parent: parent))
                    if known.insert(inner.table.lowercased()).inserted { open.append(inner.table.lowercased()) }
                }
            }
        }
        return found
    }
}

/// How old rows may become: `expire = { column = "stop", after = "7d" }`.
public struct RowExpiry: Sendable, Hashable {
    /// The column with a row's date.
    public var column: String
    /// The time after that date for which the row stays.
    public var after: Duration
}
