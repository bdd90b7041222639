import FeedConfiguration
package import FeedModel
import FeedStaging
import Foundation
import GRDBSQLite

/// A condition on a change of a row, as `new.price > old.price`: an SQL expression over the row before the change, `old`, and
/// the row after it, `new`. It is evaluated by SQLite whatever the store.
///
/// Used by one thread at a time.
package final class ChangeCondition {
    package struct Failure: Error, CustomStringConvertible {
        package let finding: Finding

        init(_ text: String, help: String? = nil) { finding = Finding(text, help: help) }

        package var description: String { finding.description }
    }

    /// A table that a condition has been given the values of.
    private struct Prepared {
        var types: [String: String]
        /// Writes `old` and `new`, each by a statement.
        var writes: [OpaquePointer]
        var query: OpaquePointer
    }

    /// The columns of each image that the condition reads, as it spells them.
    private struct Reads {
        var image: String
        var columns: [String] = []
    }

    private static let (before, after) = ("old", "new")
    /// The column that an image has without any other.
    private static let place = "tributary_place"
    /// The most columns that a condition names.
    private static let mostColumns = 1_000

    package let sql: String
    private var reads = [Reads(image: ChangeCondition.before), Reads(image: ChangeCondition.after)]
    private let database = ExpressionDatabase()
    private var prepared: Prepared?
    private let sink = BindingSink()

    /// - Throws: ``Failure`` for a text that is no condition.
    package init(_ sql: String) throws(Failure) {
        self.sql = sql
        do throws(ExpressionFault) {
            try ExpressionDatabase.checkFormats(of: sql)
        } catch {
            throw Failure(error.message)
        }
        // Which columns it reads is asked of SQLite: whatever it lacks is a column that the images may have.
        while let missing = try missingColumn() {
            let image = missing.image == Self.before ? 0 : 1
            let isKnown = reads[image].columns.contains { $0.lowercased() == missing.column.lowercased() }
            guard !isKnown, reads[image].columns.count < Self.mostColumns else {
                throw Failure("is not an SQL expression: no such column: \(missing.column)")
            }
            reads[image].columns.append(missing.column)
        }
        // Over tables that have all of these columns, one that is named without 'old' or 'new' is ambiguous.
        _ = try missingColumn(sharing: true)
        try checkArguments()
    }

    /// Evaluates the condition once, over rows of NULL: some mistakes show whatever the row.
    private func checkArguments() throws(Failure) {
        for read in reads { try execute("INSERT INTO \(read.image) (\(Self.place)) VALUES (1)") }
        database.functions.fault = nil
        sqlite3_exec(database.connection, query, nil, nil, nil)
        if let fault = database.functions.fault { throw Failure(fault.text, help: fault.help) }
    }

    deinit { finalize() }

    private func finalize() {
        for statement in (prepared?.writes ?? []) + [prepared?.query].compactMap(\.self) { sqlite3_finalize(statement) }
        prepared = nil
    }

    /// True where it reads the row before the change.
    package var readsBefore: Bool { !reads[0].columns.isEmpty }

    /// Returns the first column that a table lacks; nil where it has all that the condition reads.
    ///
    /// - Parameter columns: the table's columns in lower case.
    package func column(missingFrom columns: some Collection<String>) -> String? {
        reads.flatMap(\.columns).first { !columns.contains($0.lowercased()) }
    }

    // MARK: - Compiling

    /// Compiles the condition over the columns that are known.
    ///
    /// - Parameter isSharing: true where each image has the columns of both.
    /// - Returns: a column that is not known; nil if all are.
    private func missingColumn(sharing isSharing: Bool = false) throws(Failure) -> (image: String, column: String)? {
        try make([:], sharing: isSharing)
        database.guardian.begin(database.connection, columns: [])
        database.guardian.selectsLeft = 1
        defer { database.guardian.end(database.connection) }
        let fault: ExpressionFault
        do throws(ExpressionFault) {
            let statement = try database.prepare(query)
            defer { sqlite3_finalize(statement) }
            guard sqlite3_bind_parameter_count(statement) == 0 else {
                throw ExpressionFault("has a parameter", help: "a condition reads the columns of old and new alone")
            }
            return nil
        } catch {
            fault = error
        }
        // Looking for the names of functions is a SELECT, too.
        if case nil = fault.culprit, database.guardian.selectsLeft.map({ $0 < 0 }) == true {
            throw Failure("is not an expression over the columns of old and new alone: no subquery is allowed")
        }
        guard case .column(let name)? = fault.culprit else {
            let isAmbiguous = fault.message.contains("ambiguous column name")
            let finding = fault.finding(on: sql)
            throw Failure(finding.text, help: isAmbiguous ? "write new. or old. before it" : finding.help)
        }
        let parts = name.split(separator: ".", maxSplits: 1)
        guard parts.count == 2, let image = [Self.before, Self.after].first(where: { $0 == parts[0].lowercased() })
        else {
            throw Failure(
                "'\(name)' needs a row",
                help: "write new.\(parts.last ?? "") for the row after the change, "
                    + "or old.\(parts.last ?? "") for the row before it")
        }
        return (image, String(parts[1]))
    }

    private var query: String { "SELECT 1 FROM \(Self.before), \(Self.after) WHERE (\(sql)\n)" }

    /// Makes tables for the images, whose columns have the affinities of the store's.
    ///
    /// - Parameter isSharing: true where each has the columns of both.
    private func make(_ types: [String: String], sharing isSharing: Bool = false) throws(Failure) {
        let place = "\(Self.place) INTEGER PRIMARY KEY NOT NULL"
        for read in reads {
            var known: Set<String> = []
            let names = isSharing ? reads.flatMap(\.columns) : read.columns
            let columns = names.filter { known.insert($0.lowercased()).inserted }.map { column in
                column.sqlIdentifier + " " + Self.affinity(types[column.lowercased()] ?? "").sqlType
            }
            try execute("DROP TABLE IF EXISTS \(read.image)")
            try execute(
                "CREATE TABLE \(read.image) (\(([place] + columns).joined(separator: ", "))) WITHOUT ROWID")
        }
    }

    /// Returns the affinity of a column. One of SQLite's without a type holds decimals, which compare as numbers.
    private static func affinity(_ type: String) -> Affinity {
        ["", "ANY"].contains(type.uppercased()) ? .numeric : Affinity(declaredType: type)
    }

    private func execute(_ sql: String) throws(Failure) {
        guard sqlite3_exec(database.connection, sql, nil, nil, nil) == SQLITE_OK else {
            throw Failure(database.message)
        }
    }

    private func prepare(_ types: [String: String]) throws(Failure) -> Prepared {
        if let prepared, prepared.types == types { return prepared }
        finalize()
        try make(types)
        var writes: [OpaquePointer] = []
        do throws(ExpressionFault) {
            for read in reads {
                let names = ([Self.place] + read.columns.map(\.sqlIdentifier)).joined(separator: ", ")
                let values = (["1"] + read.columns.indices.map { "?\($0 + 1)" }).joined(separator: ", ")
                writes.append(
                    try database.prepare("REPLACE INTO \(read.image) (\(names)) VALUES (\(values))"))
            }
            let prepared = Prepared(types: types, writes: writes, query: try database.prepare(query))
            self.prepared = prepared
            return prepared
        } catch {
            for statement in writes { sqlite3_finalize(statement) }
            throw Failure(error.message)
        }
    }

    // MARK: - A change

    /// Returns true where the condition holds, and where a row that it reads is not known or too long for it. NULL is not
    /// true.
    ///
    /// - Throws: ``Failure`` where it fails, or reads a column that the table does not have.
    package func holds(for change: ChangelogEntry) throws(Failure) -> Bool {
        guard let images = change.images, !images.types.isEmpty else { return true }
        if let column = column(missingFrom: images.types.keys) {
            throw Failure("table '\(change.table)' has no column '\(column)'")
        }
        let rows = [(images.before, change.operation == "insert"), (images.after, change.operation == "delete")]
        for (read, (row, isAbsent)) in zip(reads, rows) where row == nil && !isAbsent && !read.columns.isEmpty {
            return true
        }
        let prepared = try prepare(images.types)
        for (index, (row, _)) in rows.enumerated() {
            guard try write(row ?? [], reads[index], prepared.writes[index]) else { return true }
        }
        defer { sqlite3_reset(prepared.query) }
        database.functions.fault = nil
        switch sqlite3_step(prepared.query) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default: throw failure(change)
        }
    }

    /// - Returns: false where a value is longer than expressions take.
    private func write(
        _ row: [RowImages.Value], _ read: Reads, _ statement: OpaquePointer
    ) throws(Failure) -> Bool {
        for (index, column) in read.columns.enumerated() {
            let value = row.first { $0.column.lowercased() == column.lowercased() }?.value ?? .null
            sink.begin(statement, Int32(index + 1), isNumeric: false)
            value.append(to: sink)
            if sink.code == SQLITE_TOOBIG { return false }
            guard sink.code == SQLITE_OK else { throw Failure("column '\(column)': \(database.message)") }
        }
        sqlite3_step(statement)
        let code = sqlite3_reset(statement)
        guard code == SQLITE_OK || code == SQLITE_TOOBIG else { throw Failure(database.message) }
        return code == SQLITE_OK
    }

    private func failure(_ change: ChangelogEntry) -> Failure {
        Failure("fails for the row \(change.key) of table '\(change.table)': \(database.message)")
    }
}

extension StoredValue {
    fileprivate func append(to sink: BindingSink) {
        switch self {
        case .null: sink.appendNull()
        case .integer(let number): sink.append(number)
        case .real(let number): sink.append(number)
        case .text(var text): text.withUTF8 { sink.append(text: UnsafeRawBufferPointer($0)) }
        case .blob(let data): data.withUnsafeBytes { sink.append(blob: $0) }
        }
    }
}
