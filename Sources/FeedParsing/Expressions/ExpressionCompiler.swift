import FeedConfiguration
import FeedModel
import FeedStaging
import GRDBSQLite

/// Compiles the expressions of a table, its derived columns and its filter, into one statement over the values of a
/// record.
///
/// An expression that uses other derived columns comes after them. The filter comes as early as possible, so that
/// other expressions see only records that pass it.
struct ExpressionCompiler {
    /// One expression, with the step at which it is computed: 1 for one that needs values of the feed only.
    struct Expression {
        /// Nil for the filter.
        var column: ColumnMapping?
        var sql: String
        /// The columns that it reads, in lower case.
        var reads: Set<String> = []
        var step = 1
    }

    let table: TableMapping
    /// In the order in which they are computed.
    private(set) var expressions: [Expression]
    /// The columns whose values the statement is given, in the order of its parameters.
    private(set) var inputs: [ColumnMapping] = []

    /// - Throws: ``ExpressionProblem``, the first one.
    init(_ table: TableMapping, in database: ExpressionDatabase) throws(ExpressionProblem) {
        let (expressions, problems) = Self.read(table, in: database)
        if let problem = problems.first { throw problem }
        try self.init(table, expressions)
    }

    private init(_ table: TableMapping, _ expressions: [Expression]) throws(ExpressionProblem) {
        self.table = table
        self.expressions = expressions
        let read = expressions.reduce(into: Set<String>()) { $0.formUnion($1.reads) }
        inputs = table.columns.filter { !$0.isDerived && read.contains($0.name.lowercased()) }
        try sort()
    }

    /// Returns every mistake in a table's expressions.
    static func problems(of table: TableMapping) -> [ExpressionProblem] {
        let names = Set(table.columns.map { $0.name.lowercased() })
        // Two columns of one name are a mistake of their own.
        guard names.count == table.columns.count else { return [] }
        let database = ExpressionDatabase()
        let (expressions, problems) = read(table, in: database)
        guard problems.isEmpty else { return problems }
        do throws(ExpressionProblem) {
            let compiler = try ExpressionCompiler(table, expressions)
            return compiler.mistakesInArguments(database)
        } catch {
            return [error]
        }
    }

    private static func read(_ table: TableMapping, in database: ExpressionDatabase) -> (
        [Expression], [ExpressionProblem]
    ) {
        var expressions = table.columns.compactMap { column in
            if case .sql(let sql) = column.origin { Expression(column: column, sql: sql) } else { nil }
        }
        if let filter = table.filter { expressions.append(Expression(column: nil, sql: filter)) }
        var problems: [ExpressionProblem] = []
        let names = table.columns.map(\.name).filter { $0 != TableMapping.deletionColumn }
        for index in expressions.indices {
            let (reads, faults) = database.check(expressions[index].sql, among: names)
            expressions[index].reads = reads
            problems += faults.map {
                ExpressionProblem(
                    column: expressions[index].column?.name, $0.finding(on: expressions[index].sql))
            }
        }
        return (expressions, problems)
    }

    /// Returns the columns that each expression of a table reads, in lower case. Invalid expressions are left out.
    static func reads(of table: TableMapping) -> (columns: [String: Set<String>], filter: Set<String>) {
        let expressions = read(table, in: ExpressionDatabase()).0
        let columns = expressions.compactMap { expression in
            expression.column.map { ($0.name.lowercased(), expression.reads) }
        }
        return (
            Dictionary(columns) { first, _ in first }, expressions.first { $0.column == nil }?.reads ?? []
        )
    }

    // MARK: - Order

    private mutating func sort() throws(ExpressionProblem) {
        let byName = Dictionary(
            expressions.compactMap { expression in
                expression.column.map { ($0.name.lowercased(), expression) }
            }
        ) { first, _ in first }
        var steps: [String: Int] = [:]
        var path: [String] = []
        func step(_ name: String, from least: Int) throws(ExpressionProblem) -> Int {
            if let known = steps[name] { return known }
            guard let expression = byName[name] else { return 0 }
            if let start = path.firstIndex(of: name) {
                let circle = (path[start...] + [name]).map { byName[$0]?.column?.name ?? $0 }
                throw ExpressionProblem(
                    column: circle[0],
                    Finding(
                        "the columns are computed from each other in a circle: "
                            + circle.joined(separator: " needs ")))
            }
            path.append(name)
            var step = least
            for other in expression.reads.sorted() { step = max(step, try stepOf(other, least) + 1) }
            path.removeLast()
            steps[name] = step
            return step
        }
        func stepOf(_ name: String, _ least: Int) throws(ExpressionProblem) -> Int { try step(name, from: least) }
        let filter = expressions.first { $0.column == nil }
        var filterStep = 0
        for name in filter?.reads.sorted() ?? [] { filterStep = max(filterStep, try step(name, from: 1)) }
        for index in expressions.indices {
            guard let name = expressions[index].column?.name.lowercased() else {
                expressions[index].step = filterStep
                continue
            }
            expressions[index].step = try step(name, from: filterStep + 1)
        }
        // The filter of a step follows the columns of that step.
        let order = expressions.enumerated().sorted { left, right in
            let (one, other) = (left.element, right.element)
            if one.step != other.step { return one.step < other.step }
            if (one.column == nil) != (other.column == nil) { return other.column == nil }
            return left.offset < right.offset
        }
        expressions = order.map(\.element)
    }

    // MARK: - The statement

    /// Returns the statement that computes the derived columns of one record, in the order of ``expressions``. It gives
    /// no row for a record that does not pass the filter.
    ///
    /// - Parameters:
    ///   - affinities: those of the inputs' values, in lower case.
    ///   - count: the number of expressions that are computed; the others are left out.
    func statement(_ affinities: [String: Affinity] = [:], first count: Int = .max) -> String {
        let expressions = expressions.prefix(count)
        let last = expressions.map(\.step).max() ?? 0
        var known = inputs.map(\.name.sqlIdentifier)
        let values = inputs.enumerated().map { index, column in
            let parameter = "?\(index + 1)"
            let affinity = affinities[column.name.lowercased()]
            return (affinity.map { "CAST(\(parameter) AS \($0.sqlType))" } ?? parameter) + " AS "
                + column.name.sqlIdentifier
        }
        var parts = ["tributary_0 AS (SELECT \((values.isEmpty ? ["NULL AS tributary_none"] : values).listed))"]
        var source = "tributary_0"
        var pending: [Expression] = []
        func from() -> String {
            defer { pending = [] }
            let conditions = pending.map { "(\($0.sql)\n)" }
            return "FROM \(source) AS \(ExpressionDatabase.record)" + conditions.whereClause
        }
        var outputs: [String] = []
        for step in 0...last {
            let columns = expressions.indices.filter { expressions[$0].step == step && expressions[$0].column != nil }
            let filters = expressions.filter { $0.step == step && $0.column == nil }
            let computed = columns.map { "(\(expressions[$0].sql)\n)" }
            let names = columns.map { "tributary_value_\($0)" }
            if step == last, filters.isEmpty {
                outputs += computed
            } else if !columns.isEmpty {
                // OFFSET keeps SQLite from writing an expression out wherever its value is used.
                let raw = known + zip(computed, names).map { "\($0) AS \($1)" }
                parts.append("tributary_raw_\(step) AS (SELECT \(raw.listed) \(from()) LIMIT -1 OFFSET 0)")
                known += names
                let typed = zip(columns, names).map { index, name in
                    let column = expressions[index].column
                    return Self.typed(name, column?.type) + " AS " + (column?.name ?? name).sqlIdentifier
                }
                parts.append("tributary_\(step) AS (SELECT \((known + typed).listed) FROM tributary_raw_\(step))")
                known += columns.compactMap { expressions[$0].column?.name.sqlIdentifier }
                outputs += names
                source = "tributary_\(step)"
            }
            pending += filters
        }
        return "WITH \(parts.listed) SELECT \((outputs.isEmpty ? ["1"] : outputs).listed) \(from())"
    }

    /// Returns the value that expressions see of a derived column with a type.
    private static func typed(_ name: String, _ type: ValueType?) -> String {
        switch type {
        case .integer: "CAST(\(name) AS INTEGER)"
        case .real: "CAST(\(name) AS REAL)"
        case .decimal: "CAST(\(name) AS NUMERIC)"
        case .text: "CAST(\(name) AS TEXT)"
        case .boolean, .date, .datetime, .blob, .xml, nil: name
        }
    }

    /// Returns the mistakes that show whatever the record: a pattern that is none, a time that is the present.
    private func mistakesInArguments(_ database: ExpressionDatabase) -> [ExpressionProblem] {
        let nothing = table.columns.map { "NULL AS " + $0.name.sqlIdentifier }.listed
        let parts = expressions.map { expression in
            let sql = "SELECT (\(expression.sql)\n) FROM (SELECT \(nothing)) AS \(ExpressionDatabase.record)"
            return (column: expression.column?.name, sql: sql)
        }
        return (parts + [(column: expressions[0].column?.name, sql: statement())]).compactMap { part in
            do throws(ExpressionFault) {
                let statement = try database.prepare(part.sql)
                defer { sqlite3_finalize(statement) }
                database.functions.fault = nil
                sqlite3_step(statement)
                return database.functions.fault.map { ExpressionProblem(column: part.column, $0) }
            } catch {
                return ExpressionProblem(column: part.column, Finding(error.message))
            }
        }
    }
}

extension [String] {
    fileprivate var listed: String { joined(separator: ", ") }
}
