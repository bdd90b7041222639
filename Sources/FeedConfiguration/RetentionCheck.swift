import FeedModel

/// Checks what requests say of rows that are gone or too old (`deleted`, `expire`).
struct RetentionCheck {
    let problems: ProblemCollector

    /// - Parameter table: the request's table in the file.
    func check(_ request: RequestDeclaration, _ table: DeclarationReader) {
        guard let mapping = request.content.mapping else {
            if table.has(RequestKeys.all.deleted), request.sync != .mirror { reportMode(request.sync, table.path) }
            return
        }
        if table.has(RequestKeys.all.deleted),
            !mapping.tables.contains(where: { request.sync(of: $0) == .mirror || $0.deletedWhen != nil })
        {
            reportMode(request.sync, table.path)
        }
        for (index, mapped) in mapping.tables.enumerated() {
            let path = table.path.appending("tables").appending(index)
            let sync = request.sync(of: mapped)
            if mapped.deleted != nil, sync != .mirror, mapped.deletedWhen == nil { reportMode(sync, path) }
            if mapped.deletedWhen != nil, sync != .mirror, sync != .upsert {
                problems.report(
                    path.appending("deleted_when"),
                    "requires sync = \"upsert\" or \"mirror\", but these rows are merged with sync = "
                        + "\"\(sync.rawValue)\"")
            }
            if let gone = request.deletionMark(of: mapped) { check(gone, of: mapped, request, path) }
            if let expiry = request.expiry(of: mapped) {
                check(expiry, of: mapped, request, mapped.expiry == nil ? table.path : path)
            }
        }
    }

    /// Reports tables that a source mirrors with and without `deleted`, or with different columns.
    ///
    /// - Parameter tables: the requests' tables in the file.
    func check(_ requests: [RequestDeclaration], _ tables: [DeclarationReader]) {
        var known: [String: (column: String?, place: KeyPlace)] = [:]
        for (request, table) in zip(requests, tables) {
            guard let mapping = request.content.mapping else { continue }
            for (index, mapped) in mapping.tables.enumerated() where request.sync(of: mapped) == .mirror {
                let gone = request.deletionMark(of: mapped)
                let name = mapped.table.lowercased()
                guard let other = known[name] else {
                    known[name] = (gone, mapped.place)
                    continue
                }
                guard other.column?.lowercased() != gone?.lowercased() else { continue }
                problems.report(
                    table.path.appending("tables").appending(index),
                    "'deleted' of table '\(mapped.table)' is \(shown(gone)) here and \(shown(other.column)) in "
                        + other.place.path, help: "give both the same")
            }
        }
    }

    private func reportMode(_ sync: SyncMode, _ path: TOMLKeyPath) {
        problems.report(
            path.appending("deleted"),
            "requires a mirror, but these rows are merged with sync = \"\(sync.rawValue)\"",
            help: "write sync = \"mirror\" or 'deleted_when', or remove 'deleted'")
    }

    private func check(_ gone: String, of table: TableMapping, _ request: RequestDeclaration, _ path: TOMLKeyPath) {
        if let column = table.column(gone) {
            problems.report(
                path.appending("columns", column.name),
                "'deleted' sets this column", help: "remove it from 'columns'")
        }
        if request.scope.keys.contains(where: { $0.lowercased() == gone.lowercased() }) {
            problems.report(
                path, "'scope' and 'deleted' name the same column, '\(gone)'", help: "give 'deleted' another")
        }
    }

    private func check(_ expiry: RowExpiry, of table: TableMapping, _ request: RequestDeclaration, _ path: TOMLKeyPath)
    {
        let place = path.appending("expire", "column")
        guard let column = table.column(expiry.column) else {
            let isKnown =
                table.matchesNames || request.deletionMark(of: table)?.lowercased() == expiry.column.lowercased()
            if !isKnown, table.expiry != nil {
                MappingReader.reportUnknown(column: expiry.column, of: table, at: place, problems)
            }
            return
        }
        if column.type != .date, column.type != .datetime {
            problems.report(
                place,
                "'\(expiry.column)' has no dates",
                help: "give the column type = \"date\" or \"datetime\", or name another")
        } else if column.isEncrypted {
            problems.report(place, "'\(expiry.column)' is encrypted, and has no order")
        }
    }

    private func shown(_ column: String?) -> String { column.map { "'\($0)'" } ?? "missing" }
}
