import FeedModel
import FeedStaging
import FeedStores

/// A table of the store with all that PostgreSQL's catalog says of it.
struct TableDetails: Sendable, Decodable {
    enum Kind: String, Sendable, Decodable {
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

    /// What lets values be there only once.
    struct Uniqueness: Sendable, Decodable {
        /// The key columns.
        var columns: [String]
        /// The columns that its expressions and its condition mention, too.
        var mentioned: [String]
        var isPrimary: Bool
        /// True if no two rows have the same values in the columns at any moment: it has neither expressions nor a
        /// condition, is not deferrable, and is no exclusion constraint's.
        var isPlain: Bool
    }

    let oid: UInt32
    let schema: String
    /// The name without the schema's.
    let relation: String
    /// True if the name finds the table without its schema, which the search path has.
    let isVisible: Bool
    /// The table's name in declarations and the changelog: with its schema if the search path does not find it.
    let name: String
    let kind: Kind
    /// True for a part of a partitioned table.
    let isPartition: Bool
    /// A text that changes with every change of the definition, and with TRUNCATE.
    let mark: String
    let columns: [ColumnDetails]
    private let places: NameIndex
    let uniquenesses: [Uniqueness]
    /// The table's own foreign keys.
    let foreignKeys: [ForeignKey]
    /// The foreign keys by which tables, also this one, refer to it.
    let referringKeys: [ForeignKey]
    /// The properties of the table for staging.
    let info: TableInfo

    /// The name as SQL has it, with its schema.
    var sql: String { "\(schema.postgresIdentifier).\(relation.postgresIdentifier)" }

    /// The name as a user would write it in SQL: with its schema only if the search path does not find it.
    var shortSQL: String { isVisible ? relation.postgresIdentifier : sql }

    /// Returns the column with exactly this name, or else the only one whose name differs from it by case.
    func column(_ name: String) -> ColumnDetails? { places[name].map { columns[$0] } }

    /// Returns true if texts that these columns hold for equal have one folded form (``ScopePlace``).
    func folds(_ columns: some Sequence<String>) -> Bool {
        columns.allSatisfy { column($0.lowercased())?.isFolded ?? true }
    }

    /// The most columns that a mapping may write: PostgreSQL's limit (limits.html), less those that staging adds.
    static let maximumColumns = 1590

    /// Returns the reason for which rows with this many columns cannot be written to the table; nil if they can.
    func problem(ofWriting count: Int) -> Finding? {
        if !kind.isTable {
            return Finding(
                "'\(name)' is a \(kind.description), and rows are merged into tables only",
                help: "write to a table, and let a trigger on it fill '\(name)'")
        }
        if count > Self.maximumColumns {
            return Finding(
                "\(count) columns are to be written to table '\(name)', and at most \(Self.maximumColumns) can be",
                help: "leave some out, or split the table")
        }
        var seen: [String: String] = [:]
        for column in columns {
            if let other = seen.updateValue(column.name, forKey: column.name.lowercased()) {
                return Finding(
                    "the columns '\(other)' and '\(column.name)' of table '\(name)' differ by case only",
                    help: "rename one")
            }
        }
        return nil
    }
}

extension TableDetails {
    private enum CodingKeys: CodingKey {
        case oid, schema, name, isVisible, kind, isPartition, mark, columns, uniquenesses, foreignKeys, referringKeys
    }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        oid = try values.decode(UInt32.self, forKey: .oid)
        schema = try values.decode(String.self, forKey: .schema)
        relation = try values.decode(String.self, forKey: .name)
        isVisible = try values.decode(Bool.self, forKey: .isVisible)
        name = isVisible ? relation : "\(schema).\(relation)"
        kind = try values.decode(Kind.self, forKey: .kind)
        isPartition = try values.decode(Bool.self, forKey: .isPartition)
        mark = try values.decode(String.self, forKey: .mark)
        columns = try values.decode([ColumnDetails].self, forKey: .columns)
        places = NameIndex(columns.lazy.map(\.name))
        uniquenesses = try values.decode([Uniqueness].self, forKey: .uniquenesses)
        foreignKeys = try values.decode([ForeignKey].self, forKey: .foreignKeys)
        referringKeys = try values.decode([ForeignKey].self, forKey: .referringKeys)
        let primaryKey = uniquenesses.first(where: \.isPrimary)?.columns ?? []
        info = TableInfo(
            name: name, kind: kind == .partitioned ? Kind.table.description : kind.description,
            columns: columns.map {
                TableInfo.Column(
                    name: $0.name, declaredType: $0.type, stagedType: $0.stagedType, isNotNull: $0.isNotNull,
                    isGenerated: $0.isGenerated, isBytewise: ["text", "varchar"].contains($0.typeName),
                    bytesDecide: $0.bytesDecide)
            },
            primaryKey: primaryKey,
            generatedKey: primaryKey.count == 1
                ? columns.first { $0.name == primaryKey[0] && $0.makesNumbers }?.name : nil,
            // The scratch database finds the rows that are equal by their bytes; the others are PostgreSQL's to find.
            uniqueIndexes: uniquenesses.filter(\.isPlain).map { $0.columns.map { (name: $0, collation: "BINARY") } },
            foreignKeys: foreignKeys.map {
                TableInfo.ForeignKey(columns: $0.columns, parent: $0.parentName, targets: $0.targets)
            })
    }
}

/// A foreign key of the store: the tables and columns on both sides, and the effect of a parent's change on its
/// children.
struct ForeignKey: Sendable, Decodable {
    /// What becomes of the children, by the letters of `pg_constraint`.
    enum Action: String, Decodable {
        /// Both refuse; most keys do so with each statement.
        case noAction = "a"
        case restrict = "r"
        case cascade = "c"
        case setNull = "n"
        case setDefault = "d"

        var changesChildren: Bool { self != .noAction && self != .restrict }
    }

    /// The child's table.
    var child: UInt32
    var columns: [String]
    /// The parent's table.
    var parent: UInt32
    var parentName: String
    var targets: [String]
    var onDelete: Action
    var onUpdate: Action
    var isDeferrable: Bool

    /// True if a parent can only be deleted after or together with its child.
    var holdsParents: Bool { onDelete != .noAction || !isDeferrable }
}
