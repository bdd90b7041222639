import FeedModel

extension DeclarationReader {
    /// Returns the column that marks rows as gone, of the key `deleted`.
    func deletionMark(_ key: Key<String>) -> String? {
        guard let name = self[key] else { return nil }
        if let problem = MappingReader.problem(ofName: name) { report("deleted", problem) }
        return name
    }

    /// Returns how old rows may become, of the key `expire`.
    func expiry(_ key: TableKey) -> RowExpiry? {
        guard let table = table(key) else { return nil }
        let column = table[ExpiryKeys.all.column]
        let after = table[ExpiryKeys.all.after]
        if !table.has(ExpiryKeys.all.column) || !table.has(ExpiryKeys.all.after) {
            report(
                "expire", "needs the column with a row's date, and a time: { column = \"stop\", after = \"7d\" }")
        }
        table.finish()
        guard let column, let after else { return nil }
        return RowExpiry(column: column, after: after)
    }
}
