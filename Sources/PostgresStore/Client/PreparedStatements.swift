/// The statements that a session keeps prepared, by their texts.
///
/// A statement outlives the transaction in which it was prepared, also one that is rolled back. Names are unlike those of all
/// other clients: behind a pooler, several share the server's sessions.
struct PreparedStatements {
    /// The most statements that one session keeps. A plan takes some ten kilobytes of the server's memory.
    static let most = 100

    private var names: [String: String] = [:]
    private var lastNumber = 0
    private let prefix = "tributary_\(String(UInt64.random(in: 0 ... .max), radix: 36))_"

    /// False once the server has lost a statement, as behind a pooler that gives each transaction another session. Nothing
    /// is prepared from then on.
    private(set) var isUsable = true

    var count: Int { names.count }
    var allNames: [String] { names.values.sorted() }

    func name(of sql: String) -> String? { names[sql] }

    mutating func nextName() -> String {
        lastNumber += 1
        return "\(prefix)\(lastNumber)"
    }

    mutating func keep(_ sql: String, as name: String) { names[sql] = name }

    mutating func removeAll() { names = [:] }

    /// Takes note of an error of a prepared statement, which may say that statements are no longer valid.
    mutating func note(_ error: PostgresError) {
        guard error.isLostPreparation else { return }
        names = [:]
        // Otherwise the columns of a result have changed.
        if error.state != .featureNotSupported { isUsable = false }
    }
}

extension PostgresError {
    /// True for a prepared statement that the server does not have, or that it cannot execute any more. It has done nothing.
    var isLostPreparation: Bool {
        [.unknownStatement, .duplicateStatement, .featureNotSupported].contains(state)
    }
}

extension SQLState {
    fileprivate static let unknownStatement = SQLState(rawValue: "26000")
    fileprivate static let duplicateStatement = SQLState(rawValue: "42P05")
}
