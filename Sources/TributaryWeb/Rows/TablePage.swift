import FeedModel
import FeedStores

/// The page of a table: some of its rows, the conditions on them, and the way to the next ones.
struct TablePage {
    static let rowsPerPage = 100
    /// The bytes of values, about, after which a page has no further row.
    private static let mostBytes = 1 << 20

    let table: BrowsedTable
    let address: RowAddress
    let rows: [BrowsedRow]
    /// The place of the last row shown, where there are more.
    let next: RowPlace?
    let facet: TableFacet?
    let templates: Templates

    /// Reads what the page shows; blocks its thread.
    ///
    /// - Returns: nil where no source has written such a table.
    /// - Throws: `RowQuery.Problem`, `StoreError`.
    init?(_ address: RowAddress, in store: any StoreBrowsing, templates: Templates) throws {
        guard let table = try store.browsedTable(address.table) else { return nil }
        self.table = table
        self.address = address
        self.templates = templates
        (rows, next) = try Self.rows(address, limit: Self.rowsPerPage, in: store)
        facet = try address.facet.map { try TableFacet($0, of: table, address, in: store) }
    }

    /// Returns up to a number of rows, fewer where they are large, and the place after which there are more.
    static func rows(
        _ address: RowAddress, limit: Int, in store: any StoreBrowsing
    ) throws -> (rows: [BrowsedRow], next: RowPlace?) {
        let limit = min(limit, address.limit ?? limit)
        var rows: [BrowsedRow] = []
        var bytes = 0
        var hasMore = false
        try store.rows(address.query(limit: limit + 1), within: RowLines.timeLimit) { row in
            guard rows.count < limit, bytes < Self.mostBytes else {
                hasMore = true
                return false
            }
            bytes += row.values.reduce(0) { $0 + $1.bytes }
            rows.append(row)
            return true
        }
        return (rows, hasMore ? rows.last?.place : nil)
    }

    /// The columns of numbers: those with one in a row, and decimals, which a store may keep as texts.
    private var numbers: Set<String> {
        let found = table.columns.enumerated().filter { index, column in
            address.decimals.contains(column.name.lowercased()) || column.type.lowercased().hasPrefix("numeric")
                || rows.contains { row in
                    switch row.values[index] {
                    case .integer, .real: true
                    case .null, .text, .blob: false
                    }
                }
        }
        return Set(found.map(\.element.name))
    }

    func page() -> Page {
        Page(
            title: table.name,
            fragments: [Fragment("rows", templates.render("table", View(self)))])
    }
}

extension TablePage {
    fileprivate struct Column {
        var name: String
        var type: String
        var address: String
        /// `ascending` or `descending`; nil where the rows are not sorted by it.
        var sorted: String?
        var isNumber: Bool
    }

    fileprivate struct Cell {
        var name: String
        var text: String
        /// The class of `page.css`: of a number, or of a text that fits into a line.
        var kind: String?
        var isNull: Bool
        /// The row to which it refers.
        var link: String?

        init(_ column: BrowsedTable.Column, _ value: StoredValue, isNumber: Bool, link: String?) {
            name = column.name
            text = value.shown(most: 200)
            isNull = value == .null
            kind = isNumber ? "number" : text.count <= Self.short ? "short" : nil
            self.link = link
        }

        /// The most characters of a text that is never broken.
        private static let short = 24
    }

    fileprivate struct Row {
        var address: String
        /// The values of its key; its number on the page where the table has none.
        var label: String
        var cells: [Cell]
    }

    fileprivate struct Choice {
        var name: String
        var value: String
        var isChosen: Bool
    }

    fileprivate struct Condition {
        var number: Int
        var columns: [Choice]
        var comparisons: [Choice]
        var value: String
    }

    fileprivate struct View {
        var path: String
        var sources: SourceLinks
        var conditions: [Condition]
        var sorts: [Choice]
        var isDescending: Bool
        var columns: [Column]
        var rows: [Row]
        var isEmpty: Bool
        var facets: [Choice]
        var hasFacets: Bool
        var facet: TableFacet?
        var formats: [Choice]
        var first: String?
        var next: String?

        init(_ page: TablePage) {
            let (table, address) = (page.table, page.address)
            path = RowAddress.path(table.name)
            sources = SourceLinks(table.sources)
            // One line more, for a further condition.
            let lines = address.filters.map(Optional.some) + (address.filters.count < 4 ? [nil] : [])
            conditions = lines.enumerated().map { Condition(number: $0 + 1, $1, of: table) }
            isDescending = address.order?.isDescending == true
            let links = Dictionary(
                table.links.filter { $0.columns.count == 1 }.map { ($0.columns[0].lowercased(), $0) }
            ) { first, _ in first }
            let sorted = address.order.flatMap { table.position(of: $0.column) }
            sorts = table.columns.enumerated().map {
                Choice(name: $1.name, value: $1.name, isChosen: $0 == sorted)
            }
            let numbers = page.numbers
            columns = table.columns.enumerated().map { index, column in
                let isSorted = index == sorted
                let descends = isSorted && address.order?.isDescending == false
                let other = address.with {
                    $0.after = nil
                    $0.order = RowQuery.Order(column.name, isDescending: descends)
                }
                return Column(
                    name: column.name, type: column.type, address: other.address(),
                    sorted: isSorted ? (address.order?.isDescending == true ? "descending" : "ascending") : nil,
                    isNumber: numbers.contains(column.name))
            }
            rows = page.rows.enumerated().map { number, row in
                Row(
                    address: RowAddress.path(table.name, row: row.place.key),
                    label: table.key.isEmpty
                        ? "Row \(number + 1)" : row.place.key.map { $0.shown(most: 40) }.joined(separator: ", "),
                    cells: zip(table.columns, row.values).map { column, value in
                        Cell(
                            column, value, isNumber: numbers.contains(column.name),
                            link: links[column.name.lowercased()].flatMap {
                                RowAddress.address($0.table, $0.targets, [value])
                            })
                    })
            }
            facet = page.facet
            facets = TableFacet.columns(of: table, page.rows, with: address.facet).map { column in
                Choice(
                    name: column, value: address.with { ($0.after, $0.facet) = (nil, column) }.address(),
                    isChosen: column.lowercased() == address.facet?.lowercased())
            }
            hasFacets = !facets.isEmpty
            isEmpty = rows.isEmpty
            let all = address.with {
                $0.after = nil
                $0.limit = nil
            }
            formats = RowFormat.allCases.map {
                Choice(name: $0.rawValue.uppercased(), value: all.address(".\($0.rawValue)"), isChosen: false)
            }
            first = address.after == nil ? nil : address.with { $0.after = nil }.address()
            next = page.next.map { place in address.with { $0.after = place }.address() }
        }
    }
}

extension TablePage.Condition {
    fileprivate init(number: Int, _ filter: RowQuery.Filter?, of table: BrowsedTable) {
        self.number = number
        let chosen = filter.flatMap { table.position(of: $0.column) }
        columns = table.columns.enumerated().map {
            TablePage.Choice(name: $1.name, value: $1.name, isChosen: $0 == chosen)
        }
        comparisons = RowQuery.Filter.Comparison.allCases.map {
            TablePage.Choice(name: $0.word, value: $0.rawValue, isChosen: $0 == filter?.comparison)
        }
        value = filter?.value ?? ""
    }
}

extension RowQuery.Filter.Comparison {
    fileprivate var word: String {
        switch self {
        case .equal: "="
        case .less: "<"
        case .greater: ">"
        case .contains: "contains"
        case .null: "is null"
        }
    }
}

extension StoredValue {
    /// The bytes that it takes, about.
    var bytes: Int {
        switch self {
        case .null, .integer, .real: 8
        case .text(let text): text.utf8.count
        case .blob(let data): data.count
        }
    }

    /// The value as a condition on its column has it; nil where none can.
    var filterText: String? {
        switch self {
        case .integer(let number): String(number)
        case .real(let number): String(number)
        case .text(let text): text.utf8.count > 1_000 || text.utf8.contains(0) ? nil : text
        case .null, .blob: nil
        }
    }

    /// The value for people, up to a number of characters.
    func shown(most: Int) -> String {
        guard case .text(let text) = self else { return description }
        let start = text.prefix(most)
        return start.endIndex < text.endIndex ? start + " …" : text
    }
}
