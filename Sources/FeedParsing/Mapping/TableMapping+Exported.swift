package import FeedConfiguration
import XMLStream

extension RequestMapping {
    /// The mapping of the exported document. It has derived columns with an `export` path, but neither columns that
    /// are not stored nor expressions over them.
    package var exported: RequestMapping {
        var mapping = self
        mapping.tables = tables.map { $0.hasExpressions ? $0.exported : $0 }
        return mapping
    }
}

extension TableMapping {
    /// The columns that `where` needs and that no exported document holds, in alphabetical order. Without them the filter
    /// would drop records that it has let through.
    package var filterColumnsNotExported: [String] {
        guard filter != nil else { return [] }
        let reads = ExpressionCompiler.reads(of: self)
        // A column of the document comes back where it is written, or where a derived one is written in its place.
        let written = Set(
            columns.compactMap { column -> XMLPath? in
                if let place = column.exportPath { return place.path }
                guard column.isStored, column.isExported, case .path(let path, _) = column.origin else { return nil }
                return path
            })
        var open = Array(reads.filter)
        var known = reads.filter
        var missing: Set<String> = []
        while let name = open.popLast() {
            for other in reads.columns[name] ?? [] where known.insert(other).inserted { open.append(other) }
            guard let column = columns.first(where: { $0.name.lowercased() == name }),
                case .path(let path, _) = column.origin
            else { continue }
            if !written.contains(path) { missing.insert(column.name) }
        }
        return missing.sorted()
    }

    fileprivate var exported: TableMapping {
        var table = self
        let reads = ExpressionCompiler.reads(of: self)
        table.columns = storedColumns.map { column in
            guard let place = column.exportPath else { return column }
            var column = column
            column.origin = .path(place.path, written: place.written)
            return column
        }
        while true {
            let known = Set(table.columns.map { $0.name.lowercased() })
            let count = table.columns.count
            table.columns.removeAll { column in
                column.isDerived && !(reads.columns[column.name.lowercased()] ?? []).isSubset(of: known)
            }
            if table.columns.count == count {
                if !reads.filter.isSubset(of: known) { table.filter = nil }
                return table
            }
        }
    }
}
