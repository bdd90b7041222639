package import FeedDeclarations

extension RequestMapping {
    /// The mapping of the document as which the rows are exported: derived columns that say where are found there,
    /// columns that are not stored are in no document, and what is computed from these cannot be computed.
    package var exported: RequestMapping {
        var mapping = self
        mapping.tables = tables.map { $0.hasExpressions ? $0.exported : $0 }
        return mapping
    }
}

extension TableMapping {
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
