import PostgresStore
import Testing

// Closures inside `#expect` and `#require` are kept out of these tests: where such a macro stands in a closure, Swift 6.3 gives a
// closure in its argument the name of one beside the macro, and calls the wrong one.

/// The error that a body throws; nil for none, or another one.
func postgresError(_ body: () throws -> Void) -> PostgresError? {
    do { try body() } catch { return error as? PostgresError }
    return nil
}

/// Expects a body to fail in a certain way.
@discardableResult
func expectError(
    _ kind: PostgresError.Kind, state: SQLState? = nil, sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () throws -> Void
) -> PostgresError? {
    let error = postgresError(body)
    #expect(error?.kind == kind, sourceLocation: sourceLocation)
    if let state { #expect(error?.state == state, sourceLocation: sourceLocation) }
    return error
}

/// Expects a body to throw an error of a type.
func expectThrows<Failure: Error>(
    _ type: Failure.Type, sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void
) {
    do {
        try body()
        Issue.record("nothing was thrown", sourceLocation: sourceLocation)
    } catch {
        #expect(error is Failure, sourceLocation: sourceLocation)
    }
}

extension SQLState {
    static let syntaxError = SQLState(rawValue: "42601")
    static let undefinedColumn = SQLState(rawValue: "42703")
    static let undefinedTable = SQLState(rawValue: "42P01")
}
