import FeedModel
import FeedStaging
import FeedStores
import PostgresClient

/// A table of the store with all that PostgreSQL's catalog says of it.
struct TableDetails: Sendable {
    enum Kind: String, Sendable {
        case table = "r"
        case partitioned = "p"
        case view = "v"
        case materializedView = "m"
        case foreign = "f"

        var isTable: Bool { self == .table || self == .partitioned }

        var description: String {
            switch self {
            case .table: "table"
            case .partitioned: "partitioned table"
            case .view: "view"
            case .materializedView: "materialized view"
            case .foreign: "foreign table"
            }
        }
    }

    var oid: UInt32
    var schema: String
    var name: String
    var kind: Kind
    /// True for a part of a partitioned table.
    var isPartition: Bool
    /// A text that changes with every change of the definition, and with TRUNCATE.
    var mark: String
    let columns: [ColumnDetails]
    /// What staging knows of the table.
    let info: TableInfo

    /// The name as SQL has it, with its schema.
    var sql: String { "\(schema.postgresIdentifier).\(name.postgresIdentifier)" }

    /// Returns the column with exactly this name, or else the only one whose name differs from it by case.
    func column(_ name: String) -> ColumnDetails? { Self.resolve(name, in: columns, name: \.name) }

    /// Returns the value with exactly this name, or else the only one whose name differs from it by case.
    static func resolve<Value>(_ wanted: String, in values: [Value], name: (Value) -> String) -> Value? {
        if let exact = values.first(where: { name($0) == wanted }) { return exact }
        let folded = wanted.lowercased()
        let similar = values.filter { name($0).lowercased() == folded }
        return similar.count == 1 ? similar[0] : nil
    }

    /// The most columns that a mapping may write: PostgreSQL's limit (limits.html), less those that staging adds.
    static let maximumColumns = 1590

    /// Returns the reason for which rows with this many columns cannot be written to the table; nil where they can.
    func problem(ofWriting count: Int) -> String? {
        if !kind.isTable {
            return
                "'\(name)' is a \(kind.description), and rows are merged into tables only; write to a table, and let a "
                + "trigger on it fill '\(name)'"
        }
        if count > Self.maximumColumns {
            return "\(count) columns are to be written to table '\(name)', and at most \(Self.maximumColumns) can be; "
                + "leave some out, or split the table"
        }
        var seen: [String: String] = [:]
        for column in columns {
            if let other = seen.updateValue(column.name, forKey: column.name.lowercased()) {
                return "the columns '\(other)' and '\(column.name)' of table '\(name)' differ by case only; rename one"
            }
        }
        return nil
    }
}

extension TableDetails {
    /// - Parameters:
    ///   - uniqueIndexes: the columns of those unique indexes that hold at every moment for every row.
    init(
        oid: UInt32, schema: String, name: String, kind: Kind, isPartition: Bool, mark: String,
        columns: [ColumnDetails],
        primaryKey: [String], uniqueIndexes: [[String]], foreignKeys: [TableInfo.ForeignKey]
    ) {
        self.oid = oid
        self.schema = schema
        self.name = name
        self.kind = kind
        self.isPartition = isPartition
        self.mark = mark
        self.columns = columns
        info = TableInfo(
            name: name, kind: kind == .partitioned ? Kind.table.description : kind.description,
            columns: columns.map {
                TableInfo.Column(
                    name: $0.name, declaredType: $0.type, stagedType: $0.stagedType, isNotNull: $0.isNotNull,
                    isGenerated: $0.isGenerated, isBytewise: ["text", "varchar"].contains($0.typeName))
            },
            primaryKey: primaryKey,
            generatedKey: primaryKey.count == 1
                ? columns.first { $0.name == primaryKey[0] && $0.makesNumbers }?.name : nil,
            // The scratch database finds the rows that are equal by their bytes; the others are PostgreSQL's to find.
            uniqueIndexes: uniqueIndexes.map { $0.map { (name: $0, collation: "BINARY") } }, foreignKeys: foreignKeys)
    }
}
