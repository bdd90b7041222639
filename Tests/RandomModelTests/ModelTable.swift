/// A table that sources share, as the schema declares it and as the model understands it.
enum ModelTable: String, CaseIterable, Sendable, Codable {
    case item, coded, numbered, folded, log, company, employee

    /// In the order of the schema.
    var columns: [String] {
        switch self {
        case .item, .folded, .company: ["id", "region", "name"]
        case .numbered: ["id", "region", "name"]
        case .coded: ["id", "region", "code"]
        case .log: ["region", "name"]
        case .employee: ["id", "region", "company"]
        }
    }

    /// The column that identifies its rows; nil where the whole row does.
    var key: String? { self == .log ? nil : "id" }

    /// What SQLite compares when it compares values of a column.
    func comparable(_ column: String, _ value: String?) -> String? {
        switch (self, column) {
        case (.folded, "id"), (.folded, "region"): value?.lowercased()
        case (.numbered, "id"), (.numbered, "region"): value.flatMap { Int($0) }.map { String($0) } ?? value
        default: value
        }
    }

    /// What the store holds of a value.
    func stored(_ column: String, _ value: String?) -> String? {
        self == .numbered && column != "name" ? comparable(column, value) : value
    }

    /// - Parameter action: of the employees' foreign key.
    static func schema(action: String) -> String {
        """
        CREATE TABLE IF NOT EXISTS item (id TEXT PRIMARY KEY, region TEXT, name TEXT);
        CREATE TABLE IF NOT EXISTS coded (id TEXT PRIMARY KEY, region TEXT, code TEXT UNIQUE);
        CREATE TABLE IF NOT EXISTS numbered (id INTEGER NOT NULL UNIQUE, region INTEGER, name TEXT);
        CREATE TABLE IF NOT EXISTS folded (id TEXT COLLATE NOCASE PRIMARY KEY, region TEXT COLLATE NOCASE, name TEXT);
        CREATE TABLE IF NOT EXISTS log (region TEXT, name TEXT);
        CREATE TABLE IF NOT EXISTS company (id TEXT PRIMARY KEY, region TEXT, name TEXT);
        CREATE TABLE IF NOT EXISTS employee (
            id TEXT PRIMARY KEY, region TEXT, company TEXT REFERENCES company (id) \(action));
        """
    }
}

/// Values by column; a column that is missing is one that the feed does not supply.
typealias ModelRow = [String: String?]
