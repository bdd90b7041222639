import CSQLite
import FeedModel
import FeedStaging
import Foundation
import GRDB

extension SQLiteStore {
    /// Creates a file for a trial: with all definitions of a database, and the rows of some of its tables. The
    /// database is only read.
    ///
    /// - Parameters:
    ///   - path: the path of the database.
    ///   - tables: the tables to copy with their rows. Tables that foreign keys and triggers tie to them are
    ///     included.
    ///   - texts: SQL; the rows of all tables that it names are copied.
    ///   - file: the path of the new file, which only its user can read.
    /// - Throws: ``StoreError`` naming the database.
    package static func copyForTrial(
        _ path: String, rowsOf tables: Set<String>, namedIn texts: [String] = [], to file: String
    ) throws {
        try ScratchDatabase.makeFile(at: file)
        do {
            var configuration = Configuration()
            configuration.foreignKeysEnabled = false
            configuration.busyMode = .timeout(10)
            let queue = try DatabaseQueue(path: file, configuration: configuration)
            defer { try? queue.close() }
            try queue.writeWithoutTransaction { db in
                try db.execute(sql: "ATTACH DATABASE ? AS store", arguments: [readOnly(path)])
                try db.inTransaction {
                    let copy = TrialCopy(db: db)
                    try copy.run(rowsOf: tables, namedIn: texts)
                    return .commit
                }
                try db.execute(sql: "DETACH DATABASE store")
            }
        } catch let error as DatabaseError {
            throw StoreError(
                .unavailable, "the database \(path) cannot be copied for a trial: \(error.message ?? error.description)"
            )
        }
    }

    /// Makes the tables and views of a database here, without rows, as far as there are none of their names. The database is
    /// only read.
    ///
    /// - Parameter excluded: the names of tables that are left out.
    /// - Throws: ``StoreError`` naming the database.
    package func adoptDefinitions(of path: String, except excluded: Set<String>) throws {
        do {
            try pool.writeWithoutTransaction { db in
                try db.execute(sql: "ATTACH DATABASE ? AS store", arguments: [Self.readOnly(path)])
                defer { try? db.execute(sql: "DETACH DATABASE store") }
                let names = Set(excluded.map { $0.lowercased() })
                let objects = try Row.fetchAll(
                    db,
                    sql: #"""
                        SELECT tbl_name, sql FROM store.sqlite_schema o WHERE sql IS NOT NULL AND type <> 'trigger'
                        AND tbl_name NOT LIKE 'sqlite\_%' ESCAPE '\' AND tbl_name NOT LIKE 'tributary\_%' ESCAPE '\'
                        AND NOT EXISTS (SELECT 1 FROM main.sqlite_schema m WHERE lower(m.name) = lower(o.tbl_name))
                        ORDER BY type = 'view', rowid
                        """#)
                for object in objects where !names.contains((object["tbl_name"] as String).lowercased()) {
                    // What cannot be made, as a table that a virtual one has made already, is missed only where it is named.
                    try? db.execute(sql: object["sql"])
                }
            }
        } catch let error as DatabaseError {
            throw StoreError(
                .unavailable, "the database \(path) cannot be read: \(error.message ?? error.description)")
        }
    }

    /// Returns true if a database has Tributary's tables, perhaps those of an earlier version.
    ///
    /// - Throws: ``StoreError``
    package static func exists(at path: String) throws -> Bool {
        guard FileManager.default.fileExists(atPath: path) else { return false }
        do {
            return try DatabaseQueue.reading(path) { try $0.tableExists("tributary_source") }
        } catch let error as DatabaseError {
            throw StoreError(opening: path, error)
        }
    }

    /// Returns a name by which a file is opened for reading alone, where this SQLite knows such names (uri.html).
    private static func readOnly(_ path: String) -> String {
        guard sqlite3_compileoption_used("USE_URI") != 0,
            let escaped = path.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed)
        else { return path }
        return "file:\(escaped)?mode=ro"
    }
}

/// Copies the definitions of an attached database, `store`, and the rows of some of its tables.
private struct TrialCopy {
    private struct Object {
        var type: String
        var name: String
        var table: String
        var sql: String
    }

    let db: Database

    /// Those of Tributary's tables that a run reads. Runs and their changes may be many.
    private static let own: Set<String> = [
        "tributary_source", "tributary_request", "tributary_listing", "tributary_claim", "tributary_host",
        "tributary_acceptance", "tributary_migration", "tributary_schema", "grdb_migrations",
    ]

    func run(rowsOf tables: Set<String>, namedIn texts: [String]) throws {
        let objects = try Row.fetchAll(
            db, sql: "SELECT type, name, tbl_name, sql FROM store.sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid"
        ).map { Object(type: $0["type"], name: $0["name"], table: $0["tbl_name"], sql: $0["sql"]) }
        let kinds = try Row.fetchAll(db, sql: "SELECT name, type FROM pragma_table_list WHERE schema = 'store'")
            .reduce(into: [String: String]()) { $0[$1["name"]] = $1["type"] }
        let made = objects.filter { object in
            object.type == "table" && kinds[object.name] != "shadow" && !object.name.lowercased().hasPrefix("sqlite_")
        }
        for table in made { try db.execute(sql: table.sql) }
        for name in try touched(objects, tables, texts).sorted() { try copy(name, kinds) }
        if objects.contains(where: { $0.name == "sqlite_sequence" }) {
            try db.execute(
                sql:
                    "DELETE FROM main.sqlite_sequence; INSERT INTO main.sqlite_sequence SELECT * FROM store.sqlite_sequence"
            )
        }
        for object in objects where object.type != "table" { try db.execute(sql: object.sql) }
    }

    /// Returns the tables whose rows a run may read or change.
    private func touched(_ objects: [Object], _ tables: Set<String>, _ texts: [String]) throws -> Set<String> {
        let names = objects.filter { $0.type == "table" }.reduce(into: [String: String]()) {
            $0[$1.name.lowercased()] = $1.name
        }
        var parents: [String: Set<String>] = [:]
        var children: [String: Set<String>] = [:]
        for name in names.keys {
            let keys = try Row.fetchAll(db, sql: "PRAGMA store.foreign_key_list(\(name.sqlIdentifier))")
            for parent in keys.map({ ($0["table"] as String).lowercased() }) {
                parents[name, default: []].insert(parent)
                children[parent, default: []].insert(name)
            }
        }
        var words = texts.reduce(into: Set<String>()) { $0.formUnion(Self.words($1)) }
        // A view reads what it names, and other views.
        var views = objects.filter { $0.type == "view" }
        while let index = views.firstIndex(where: { words.contains($0.name.lowercased()) }) {
            words.formUnion(Self.words(views.remove(at: index).sql))
        }
        let triggers = Dictionary(grouping: objects.filter { $0.type == "trigger" }) { $0.table.lowercased() }
        var written: Set<String> = []
        var open = tables.map { $0.lowercased() }
        while let name = open.popLast() {
            guard names[name] != nil, written.insert(name).inserted else { continue }
            open += children[name] ?? []
            for trigger in triggers[name] ?? [] { open += Self.words(trigger.sql) }
        }
        var all = written.union(words).union(Self.own)
        for name in written { all.formUnion(parents[name] ?? []) }
        // What a virtual table holds is in tables that are named after it.
        let virtual = objects.filter { $0.type == "table" && $0.sql.uppercased().hasPrefix("CREATE VIRTUAL") }
            .map { $0.name.lowercased() }.filter(all.contains)
        for name in names.keys where virtual.contains(where: { name.hasPrefix($0 + "_") }) { all.insert(name) }
        return Set(all.compactMap { names[$0] })
    }

    private func copy(_ name: String, _ kinds: [String: String]) throws {
        guard kinds[name] != "virtual", !name.hasPrefix("sqlite_"),
            let info = try StoredTable(db, table: name, schema: "store")
        else { return }
        var columns = info.columns.filter { !$0.isGenerated }.map(\.name.sqlIdentifier)
        if let rowID = info.rowID, info.generatedKey == nil { columns.append(rowID) }
        let list = columns.joined(separator: ", ")
        let table = name.sqlIdentifier
        try db.execute(
            sql: "DELETE FROM main.\(table); INSERT INTO main.\(table) (\(list)) SELECT \(list) FROM store.\(table)")
    }

    /// Returns all that may be a name in SQL, in lower case.
    private static func words(_ sql: String) -> Set<String> {
        var words = Set(
            sql.lowercased().split { !($0.isLetter || $0.isNumber || $0 == "_" || $0 == "$") }.map(String.init))
        // Names between quotes may hold anything.
        for quote in ["\"", "`", "'"] { words.formUnion(sql.lowercased().components(separatedBy: quote)) }
        words.formUnion(sql.lowercased().components(separatedBy: CharacterSet(charactersIn: "[]")))
        return words
    }
}
