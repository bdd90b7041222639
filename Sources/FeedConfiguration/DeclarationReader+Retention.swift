import FeedModel
import TOML

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
            report("expire", "'column' or 'after' is missing; write { column = \"stop\", after = \"7d\" }")
        }
        table.finish()
        guard let column, let after else { return nil }
        return RowExpiry(column: column, after: after)
    }
}

extension DeclarationReader {
    /// Returns a number of rows, or a part of them such as `"50%"`.
    func changeLimit(_ key: String) -> ChangeLimit? {
        let expected = "a number of rows, or a part such as \"50%\""
        let found: String? =
            if case .integer(let number)? = nodes[key] { String(number) } else { string(key, expected) }
        guard let found else { return nil }
        guard let limit = ChangeLimit(found) else {
            report(key, "expected a number of rows, or a percentage from \"0%\" to \"100%\", found '\(found)'")
            return nil
        }
        return limit
    }
}
