import FeedModel
import XMLStream

/// Derived columns, columns that are not stored, and filters.
extension MappingReader {
    /// Reads `export`: false, or, for a derived column, the path of its value in exported XML.
    func readExport(_ reader: DeclarationReader, _ column: inout ColumnMapping) {
        let key = ColumnKeys.all.export
        column.isExported = !column.isDerived && column.isStored
        switch reader[key] {
        case nil,
            .flag(false) where column.isDerived:
            break
        case .flag where column.isDerived:
            reader.report(key, "expected the path of the value in exported XML, or false, found a boolean")
        case .path(let written) where column.isDerived:
            guard !written.isEmpty, let path = path(written, reader, key.entry.name) else { break }
            column.exportPath = .init(path: path, written: written)
            column.isExported = true
        case .flag(let isExported): column.isExported = isExported && column.isStored
        case .path: reader.report(key, "expected true or false, found a string")
        }
    }

    func checkDerivation(_ column: ColumnMapping, _ reader: DeclarationReader) {
        if !column.isStored {
            let (keys, finding) = (ColumnKeys.all, "has no effect on a column that is not stored")
            for key in reader.present(keys.references, keys.overwrite, keys.encrypted) { reader.report(key, finding) }
            if column.exportPath != nil { reader.report(keys.export, finding) }
            if reader.has(keys.parent) { reader.report(keys.stored, "the parent's key must be stored") }
        }
    }

    /// Reports what needs a column of the table and names one that is not stored.
    func checkStored(_ table: TableMapping, _ reader: DeclarationReader) {
        if !table.hasExpressions, let column = table.columns.first(where: { !$0.isStored }) {
            reader.problems.report(
                reader.path.appending("columns", column.name, "stored"),
                "no expression uses the column: the table has neither 'where' nor a column with 'sql'")
        }
        var named = [("key", table.key), ("order", table.order)]
        named += [("window", table.window), ("within", table.within)].map { ($0, $1.map { [$0] } ?? []) }
        for (key, names) in named {
            for name in names where table.column(name)?.isStored == false {
                reader.report(key, "'\(name)' is not stored, and the table has no such column")
            }
        }
    }

    func checkExpressions(of table: TableMapping, _ reader: DeclarationReader) {
        guard table.hasExpressions, !table.matchesNames else { return }
        for problem in parsers.expressionProblems(of: table) {
            let place =
                switch problem.column {
                case nil: reader.path.appending("where")
                case TableMapping.deletionColumn: reader.path.appending("deleted_when")
                case let column?: reader.path.appending("columns", column, "sql")
                }
            reader.problems.report(place, problem.finding)
        }
    }
}
