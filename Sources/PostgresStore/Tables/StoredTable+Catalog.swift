import FeedModel
import FeedStaging
import FeedStores

/// A table as PostgreSQL's catalog describes it (``Catalog``).
extension StoredTable: Decodable {
    private enum CodingKeys: CodingKey {
        case id, schema, name, isVisible, kind, isPartition, mark, columns, uniquenesses, foreignKeys, children
    }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        let schema = try values.decode(String.self, forKey: .schema)
        let relation = try values.decode(String.self, forKey: .name)
        let isVisible = try values.decode(Bool.self, forKey: .isVisible)
        let columns = try values.decode([Column].self, forKey: .columns)
        let uniquenesses = try values.decode([Uniqueness].self, forKey: .uniquenesses)
        let primaryKey = uniquenesses.first(where: \.isPrimary)?.columns ?? []
        let locator = Self.locator(columns, uniquenesses)
        let key = Set(locator.compactMap(\.column))
        let lastingKey = columns.map(\.name).filter(key.contains)
        self.init(
            id: try values.decode(TableID.self, forKey: .id),
            name: isVisible ? relation : "\(schema).\(relation)", schema: schema, relation: relation,
            sql: "\(schema.postgresIdentifier).\(relation.postgresIdentifier)",
            kind: try values.decode(Kind.self, forKey: .kind), columns: columns, primaryKey: primaryKey,
            generatedKey: primaryKey.count == 1
                ? columns.first { $0.name == primaryKey[0] && $0.makesNumbers }?.name : nil,
            // The scratch database finds the rows that are equal by their bytes; the others are PostgreSQL's to find.
            uniquenesses: uniquenesses, foreignKeys: try values.decode([ForeignKey].self, forKey: .foreignKeys),
            children: try values.decode([ForeignKey].self, forKey: .children), locator: locator, rowID: nil,
            identifiesRows: true, lastingKey: lastingKey, mergeKey: key.isEmpty ? nil : lastingKey,
            maximumColumns: Self.maximumColumns)
        self.isVisible = isVisible
        isPartition = try values.decode(Bool.self, forKey: .isPartition)
        mark = try values.decode(String.self, forKey: .mark)
    }

    /// PostgreSQL's limit (limits.html), less the columns that staging adds.
    static let maximumColumns = 1590

    /// Returns the columns that identify a row of the table: those of a unique index, or else its `ctid`, which is valid
    /// until the row changes.
    private static func locator(_ columns: [Column], _ uniquenesses: [Uniqueness]) -> [Locator] {
        let places = NameIndex(columns.lazy.map(\.name))
        for key in (uniquenesses.filter(\.isPrimary) + uniquenesses).filter(\.isPlain).map(\.columns) {
            let columns = key.compactMap { places[$0] }.map { columns[$0] }
            guard columns.count == key.count, columns.allSatisfy(\.isNotNull) else { continue }
            return columns.map { Locator(sql: $0.sql, definition: $0.definition, column: $0.name) }
        }
        return [Locator(sql: "tableoid", definition: "oid"), Locator(sql: "ctid", definition: "tid")]
    }

    /// The name as a user would write it in SQL: with its schema only if the search path does not find it.
    var shortSQL: String { isVisible ? relation.postgresIdentifier : sql }

    /// Returns true if texts that these columns hold for equal have one folded form (``ScopePlace``).
    func folds(_ columns: some Sequence<String>) -> Bool {
        columns.allSatisfy { column($0.lowercased())?.isFolded ?? true }
    }

    /// The columns of unique constraints, in lower case.
    var uniqueColumns: Set<String> {
        var names = Set(uniquenesses.flatMap { $0.columns + $0.mentioned }.map { $0.lowercased() })
        if columns.contains(where: { $0.isComputed && names.contains($0.name.lowercased()) }) {
            // Its value comes from other columns, perhaps any of them.
            names.formUnion(columns.map { $0.name.lowercased() })
        }
        return names
    }

    /// Returns the key of a row in the form of the changelog: the value of the only column, or a JSON array of
    /// several; without a key, the row's place.
    func changelogKey(_ key: [String], _ alias: String) -> String {
        let columns = key.compactMap { column($0) }
        switch columns.count {
        case 0: return "\(alias).ctid::text"
        case 1: return columns[0].changelogText(alias)
        default:
            let values = columns.map { $0.changelogJSON(alias) }
            return "'[' || concat_ws(',', \(values.joined(separator: ", "))) || ']'"
        }
    }
}
