/// What the store must hold, as lists in memory, and what a commit does with them: the documented rules and nothing else.
struct PlainStore: Equatable {
    var tables: [ModelTable: [ModelRow]] = [:]
    /// Whether employees go with their company, or lose it; nil where the company must stay.
    let action: String

    init(action: String) { self.action = action }

    /// What one request has parsed.
    struct Parsed {
        var request: ModelScenario.Request
        var rows: [ModelRow]

        /// With the scope's region where the feed has none of its own, as the store holds them; of twins the last.
        var staged: [ModelRow] {
            let filled = rows.map { row in
                request.columns.reduce(into: ModelRow()) { filled, column in
                    let own = request.fillsRegion || column != "region" ? row[column] ?? nil : nil
                    let value = column == "region" ? own ?? request.region : own
                    filled[column] = .some(request.table.stored(column, value))
                }
            }
            guard let key = request.table.key else { return filled }
            var seen: Set<String?> = []
            return filled.reversed().filter { seen.insert(request.table.comparable(key, $0[key] ?? nil)).inserted }
                .reversed()
        }
    }

    /// The store after a stack's requests have been merged; nil where a constraint forbids it.
    func merging(_ parsed: [Parsed]) -> PlainStore? {
        var store = self
        for mirror in parsed where mirror.request.sync == "mirror" {
            let table = mirror.request.table
            let staged = parsed.filter { $0.request.table == table }.map {
                (columns: $0.request.columns, rows: $0.staged)
            }
            let scope = mirror.request.region.map { table.comparable("region", $0) }
            let gone = store[table].filter { row in
                guard scope == nil || table.comparable("region", row["region"] ?? nil) == scope else { return false }
                return !staged.contains { part in part.rows.contains { table.isSame($0, row, part.columns) } }
            }
            store.remove(gone, from: table)
        }
        for part in parsed { store.write(part) }
        return store.isValid ? store : nil
    }

    subscript(table: ModelTable) -> [ModelRow] { tables[table] ?? [] }

    /// Whether every row that a request supplies is there.
    func holds(_ rows: Parsed) -> Bool { missing(rows).isEmpty }

    func missing(_ rows: Parsed) -> [ModelRow] {
        let table = rows.request.table
        return rows.staged.filter { row in !self[table].contains { table.isSame(row, $0, rows.request.columns) } }
    }

    private mutating func remove(_ gone: [ModelRow], from table: ModelTable) {
        tables[table] = self[table].filter { !gone.contains($0) }
        guard table == .company else { return }
        let companies = Set(gone.compactMap { $0["id"] ?? nil })
        func isOrphan(_ row: ModelRow) -> Bool { (row["company"] ?? nil).map(companies.contains) ?? false }
        if action.contains("CASCADE") {
            tables[.employee] = self[.employee].filter { !isOrphan($0) }
        } else if action.contains("SET NULL") {
            for index in self[.employee].indices where isOrphan(self[.employee][index]) {
                tables[.employee]?[index]["company"] = .some(nil)
            }
        }
    }

    private mutating func write(_ part: Parsed) {
        let table = part.request.table
        var rows = self[table]
        for row in part.staged {
            let index =
                part.request.sync == "append" ? nil : rows.firstIndex { table.isSame(row, $0, part.request.columns) }
            guard let index else {
                rows.append(table.columns.reduce(into: [:]) { $0[$1] = .some(row[$1] ?? nil) })
                continue
            }
            // The key stays as it was first written.
            if part.request.sync != "insert" { rows[index].merge(row.filter { $0.key != table.key }) { $1 } }
        }
        tables[table] = rows
    }

    private var isValid: Bool {
        let codes = self[.coded].compactMap { $0["code"] ?? nil }
        let companies = Set(self[.company].map { $0["id"] ?? nil })
        return Set(codes).count == codes.count
            && self[.employee].allSatisfy { ($0["company"] ?? nil) == nil || companies.contains($0["company"] ?? nil) }
    }
}

extension ModelTable {
    /// Whether a staged row stands for a stored one: by key, or by every column that it has.
    func isSame(_ staged: ModelRow, _ stored: ModelRow, _ columns: [String]) -> Bool {
        (key.map { [$0] } ?? columns).allSatisfy {
            comparable($0, staged[$0] ?? nil) == comparable($0, stored[$0] ?? nil)
        }
    }
}
