import FeedDeclarations
import FeedModel
import FeedStaging

/// Compares the staged rows of a stack with what its requests expect of them, once all have been parsed.
extension Refresh {
    /// What the rows do not meet, where that does not discard the run.
    struct Unmet {
        /// What blocks the commit unless it is accepted.
        var blocking: [ExceededLimit] = []
        /// Lines about what is committed nevertheless.
        var notes: [String] = []
    }

    /// The time that one expectation may take.
    static let expectationTime = Duration.seconds(60)

    /// Looks at the expectations of the requests that were parsed. The rows of one that was unchanged have been looked at
    /// before they were committed.
    ///
    /// - Throws: ``RunError`` for the first that discards the run, or that cannot be evaluated.
    func unmetExpectations() throws -> Unmet {
        var unmet = Unmet()
        for index in run.source.requests.indices where run.results[index].report.outcome == .parsed {
            let request = run.source.requests[index]
            guard request.minRows > 0 || !request.leastRows.isEmpty || !request.expectations.isEmpty else { continue }
            do {
                try checkRows(of: request, index)
                for (number, expectation) in request.expectations.enumerated() {
                    try check(expectation, number: number + 1, of: request, &unmet)
                }
            } catch let error as CancellationError {
                throw error
            } catch {
                run.results[index].report.outcome = .failed
                throw RunError(error, in: request)
            }
        }
        return unmet
    }

    private func checkRows(of request: RequestDeclaration, _ index: Int) throws {
        func check(_ least: Int, _ rows: Int, _ place: String) throws {
            guard rows < least else { return }
            throw StackError(
                .expectation,
                "\(request.url): the feed gives \(rows) rows\(place), fewer than min_rows = \(least); if that is right, "
                    + "lower min_rows")
        }
        let context = try workerContext()
        if request.minRows > 0 { try check(request.minRows, context.countRows(ofRequest: index), "") }
        for (table, least) in request.leastRows {
            try check(least, context.countRows(ofRequest: index, in: table), " of table '\(table)'")
        }
    }

    private func check(
        _ expectation: Expectation, number: Int, of request: RequestDeclaration, _ unmet: inout Unmet
    ) throws {
        let found: String?
        let end = environment.clock.uptime + Self.expectationTime
        do {
            found = try workerContext().finding(against: expectation.sql) { [clock = environment.clock] in
                clock.uptime > end
            }
        } catch let error as StoreError where error.code == .limit {
            throw StackError(
                .expectation,
                "expect[\(number)].sql \(error.message), more than \(Self.expectationTime.components.seconds) s; simplify "
                    + "it: \(expectation.shownSQL)")
        } catch let error as StoreError where error.code == .schema {
            throw StackError(.expectation, "expect[\(number)].sql \(error.message): \(expectation.shownSQL)")
        }
        guard let found else { return }
        let text =
            expectation.message.map { "\($0) (\(found))" } ?? "\(found), where \(expectation.shownSQL) is expected"
        switch expectation.onFailure {
        case .discard: throw StackError(.expectation, "the rows are not as expected: \(text)")
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
