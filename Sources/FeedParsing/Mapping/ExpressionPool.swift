import FeedConfiguration
import FeedModel
import FeedStaging
import GRDBSQLite

/// The compiled expressions of one run's tables, lent to one document after the other: to compile them takes longer
/// than to read a small document.
///
/// Used by one thread at a time.
package final class ExpressionPool {
    private var free: [CompiledExpressions] = []

    package init() {}

    /// Returns the compiled expressions of a table, which nothing else uses until they are given back.
    ///
    /// - Parameter affinities: returns the affinities of the values of these columns, by the columns' names in lower
    ///   case.
    /// - Throws: ``MappingError`` if an expression cannot be compiled, and the errors of `affinities`.
    func take(
        _ table: TableMapping, _ affinities: ([ColumnMapping]) throws -> [String: Affinity]
    ) throws -> CompiledExpressions {
        if let index = free.lastIndex(where: { $0.compiler.table == table }) {
            let known = free[index]
            // Without a change of the store's table, they are the same.
            if try affinities(known.compiler.inputs) == known.affinities { return free.remove(at: index) }
        }
        let database = ExpressionDatabase()
        let compiler: ExpressionCompiler
        do throws(ExpressionProblem) {
            compiler = try ExpressionCompiler(table, in: database)
        } catch {
            throw MappingError(
                "table '\(table.table)', \(error.column.map { "column '\($0)'" } ?? "'where'"): \(error.finding)")
        }
        let inputs = try affinities(compiler.inputs)
        do throws(ExpressionFault) {
            return try CompiledExpressions(database, compiler, inputs)
        } catch {
            throw MappingError("table '\(table.table)': its expressions: \(error.message)")
        }
    }

    func giveBack(_ compiled: CompiledExpressions) {
        compiled.reset()
        free.append(compiled)
    }
}

/// The expressions of a table as one statement, in a database of its own.
final class CompiledExpressions {
    let database: ExpressionDatabase
    let compiler: ExpressionCompiler
    /// The affinities of the inputs' values, by the columns' names in lower case.
    let affinities: [String: Affinity]
    let statement: OpaquePointer

    init(
        _ database: ExpressionDatabase, _ compiler: ExpressionCompiler, _ affinities: [String: Affinity]
    ) throws(ExpressionFault) {
        self.database = database
        self.compiler = compiler
        self.affinities = affinities
        statement = try database.prepare(compiler.statement(affinities))
    }

    deinit { sqlite3_finalize(statement) }

    /// Forgets the values of the last record, which lie in that record's memory.
    func reset() {
        sqlite3_reset(statement)
        sqlite3_clear_bindings(statement)
    }
}
