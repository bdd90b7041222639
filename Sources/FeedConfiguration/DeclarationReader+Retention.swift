import FeedModel

extension DeclarationReader {
    /// Returns the column that marks rows as gone, of the key `deleted`.
    func deletionMark() -> String? {
        guard let name = string("deleted") else { return nil }
        if let problem = MappingReader.problem(ofName: name) { report("deleted", problem) }
        return name
    }

    /// Returns how old rows may become, of the key `expire`.
    func expiry() -> RowExpiry? {
        guard let table = table("expire") else { return nil }
        let column = table.string("column")
        let after = table.duration("after")
        if !table.has("column") || !table.has("after") {
            report(
                "expire", "needs the column with a row's date, and a time: { column = \"stop\", after = \"7d\" }")
        }
        table.finish()
        guard let column, let after else { return nil }
        return RowExpiry(column: column, after: after)
    }
}
