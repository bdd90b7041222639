import FeedModel

/// Hashes of the keys of the rows that a document gives. They tell whether two documents may have a row with one key, of which
/// the later document's counts.
///
/// Equal keys have equal hashes. Only integers and texts that compare byte by byte are hashed: values of other types may be
/// equal and differ in their bytes.
package struct DocumentKeys {
    /// The hashes, each once; nil if there are too many, or if a row has a key that cannot be hashed.
    package var hashes: Set<UInt64>? = []
    private let most: Int
    private var forms: [ObjectIdentifier: Form] = [:]

    /// The key of the rows of a staging table.
    private struct Form {
        /// The hash of the table's name.
        var start: UInt64
        /// The columns of the key, in its order; nil if a row never changes another one.
        var columns: [(position: Int, tag: RowBatch.Tag)]?
    }

    /// - Parameter most: the most keys.
    package init(most: Int) { self.most = most }

    /// Notes the key of the row that was staged last.
    mutating func note(_ staging: Staging) {
        guard hashes != nil else { return }
        let form: Form
        if let known = forms[ObjectIdentifier(staging)] {
            form = known
        } else if let new = Self.form(of: staging.table) {
            form = new
            forms[ObjectIdentifier(staging)] = new
        } else {
            hashes = nil
            return
        }
        guard let columns = form.columns else { return }
        guard let hash = staging.batch.hashOfLastRow(columns, after: form.start) else {
            hashes = nil
            return
        }
        hashes?.insert(hash)
        if hashes?.count ?? 0 > most { hashes = nil }
    }

    /// Returns the form of a table's keys; nil if what a row becomes may depend on rows of other documents in another way.
    private static func form(of table: StagingTable) -> Form? {
        let start = Fingerprint.hash(table.table.name.lowercased())
        guard table.sync != .mirror, table.ignored.isEmpty, !table.isIdentifiedByReference,
            table.references.allSatisfy(\.isByRecord), table.table.conflictClause == nil
        else { return nil }
        guard case .key(let key, let collations) = table.identity else {
            return table.identity == .none ? Form(start: start, columns: nil) : nil
        }
        // A record that replaces another one also replaces the records within that.
        if table.sync == .insert, !table.marksDeleted, !table.numbersRecords, table.keeps != .discard {
            return Form(start: start, columns: nil)
        }
        var columns: [(position: Int, tag: RowBatch.Tag)] = []
        for (name, collation) in zip(key, collations) {
            let isName = { (column: StoredTable.Column) in column.name.lowercased() == name.lowercased() }
            // All rows of the request have the scope's value.
            if table.constants.contains(where: { isName($0.column) }) { continue }
            guard let position = table.columns.firstIndex(where: isName), collation.uppercased() == "BINARY",
                let tag = table.columns[position].tagOfKey
            else { return nil }
            columns.append((position, tag))
        }
        return Form(start: start, columns: columns)
    }
}

extension StoredTable.Column {
    /// The form in which values are staged that are equal only if their bytes are; nil without one.
    fileprivate var tagOfKey: RowBatch.Tag? {
        switch stagedType {
        case "INTEGER": bytesDecide ? .integer : nil
        case "TEXT": bytesDecide && isBytewise ? .text : nil
        default: nil
        }
    }
}
