import FeedConfiguration
import FeedModel
import FeedStaging

/// Checks the expectations of a stack's requests on the staged rows, after all bodies have been parsed.
struct ExpectationCheck {
    /// The unmet expectations that do not discard the run.
    struct Unmet {
        /// The expectations that block the commit until `accept`.
        var blocking: [ExceededLimit] = []
        /// Warnings about rows that are committed.
        var notes: [String] = []
    }

    /// The timeout of one expectation.
    static let time = Duration.seconds(60)

    let context: WorkerContext
    let clock: any RunClock

    /// Returns true if a request has expectations.
    static func concerns(_ request: RequestDeclaration) -> Bool {
        request.minRows > 0 || !request.leastRows.isEmpty || !request.expectations.isEmpty
    }

    /// Checks the rows of a request.
    ///
    /// - Parameter index: the request's position in its stack.
    /// - Throws: ``StackError`` for the first expectation that discards the run, or that cannot be evaluated.
    func check(_ request: RequestDeclaration, _ index: Int, _ unmet: inout Unmet) throws {
        if request.minRows > 0 {
            try check(request.minRows, context.countRows(ofRequest: index), of: request, "")
        }
        for (table, least) in request.leastRows {
            try check(
                least, context.countRows(ofRequest: index, in: table), of: request, " of table '\(table)'")
        }
        for (number, expectation) in request.expectations.enumerated() {
            try check(expectation, number: number + 1, of: request, &unmet)
        }
    }

    private func check(_ least: Int, _ rows: Int, of request: RequestDeclaration, _ place: String) throws {
        guard rows < least else { return }
        let noun = rows == 1 ? "row" : "rows"
        throw StackError(
            "\(request.url): the feed gives \(rows) \(noun)\(place), fewer than min_rows = \(least); if that is right, "
                + "lower min_rows")
    }

    private func check(
        _ expectation: Expectation, number: Int, of request: RequestDeclaration, _ unmet: inout Unmet
    ) throws {
        let found: String?
        let end = clock.uptime + Self.time
        do {
            found = try context.finding(against: expectation.sql) { [clock] in clock.uptime > end }
        } catch let error as StoreError where error.code == .limit {
            throw StackError(
                "expect[\(number)].sql \(error.message), more than \(Self.time.components.seconds) s; simplify "
                    + "it: \(expectation.shownSQL)")
        } catch let error as StoreError where error.code == .schema {
            throw StackError("expect[\(number)].sql \(error.message): \(expectation.shownSQL)")
        }
        guard let found else { return }
        let text =
            expectation.message.map { "\($0) (\(found))" }
            ?? "the expectation \(expectation.shownSQL) is false: \(found)"
        switch expectation.onFailure {
        case .discard: throw StackError("the rows are not as expected: \(text)")
        case .block:
            unmet.blocking.append(
                ExceededLimit(
                    expectation: "\(request.key)\n\(expectation.sql)",
                    "request '\(request.key)': the rows are not as expected: \(text)"))
        case .warn: unmet.notes.append("request '\(request.key)': the rows are not as expected: \(text)")
        }
    }
}

extension Expectation {
    /// The SQL, on one line.
    var shownSQL: String { sql.split(whereSeparator: \.isWhitespace).joined(separator: " ").shortened(to: 200) }
}
