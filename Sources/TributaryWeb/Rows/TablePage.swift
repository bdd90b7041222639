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
    let facet: View?
    /// The number of all rows that match, for people; nil where counting takes too long.
    let count: String?

    /// The most rows that are counted.
    private static let mostCounted = 100_000

    /// Reads what the page shows; blocks its thread.
    ///
    /// - Returns: nil where no source has written such a table.
    /// - Throws: `RowQuery.Problem`, `StoreError`.
    init?(_ address: RowAddress, in store: any StoreBrowsing) throws {
        guard let table = try store.browsedTable(address.table) else { return nil }
        self.table = table
        self.address = address
        (rows, next) = try Self.rows(address, limit: Self.rowsPerPage, in: store)
        count =
            next == nil && address.after == nil && address.limit == nil
            ? rows.count.grouped : try Self.count(address.query(limit: Self.mostCounted), in: store)
        facet = try address.facet.map { try TableFacet.view($0, of: table, address, in: store) }
    }

    /// Counts the rows of a query up to its limit; blocks its thread.
    ///
    /// - Returns: the number for people; nil if counting takes longer than a second, or the table is gone.
    /// - Throws: `StoreError`.
    static func count(_ query: RowQuery, in store: any StoreBrowsing) throws -> String? {
        do {
            var query = query
            query.limit += 1
            let count = try store.browse(within: .seconds(1)) { try $0.count(query) }
            return count < query.limit ? count.grouped : "more than \((query.limit - 1).grouped)"
        } catch is RowQuery.Problem {
            return nil
        }
    }

    /// Returns up to a number of rows, fewer where they are large, and the place after which there are more.
    static func rows(
        _ address: RowAddress, limit: Int, in store: any StoreBrowsing
    ) throws -> (rows: [BrowsedRow], next: RowPlace?) {
        let limit = min(limit, address.limit ?? limit)
        var rows: [BrowsedRow] = []
        var bytes = 0
        var hasMore = false
        try store.browse(within: RowLines.timeLimit) { tables in
            try tables.rows(address.query(limit: limit + 1)) { row in
                guard rows.count < limit, bytes < Self.mostBytes else {
                    hasMore = true
                    return false
                }
                bytes += row.values.reduce(0) { $0 + $1.bytes }
                rows.append(row)
                return true
            }
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

    func page(_ templates: Templates) -> Page {
        Page(title: table.name, fragments: [Fragment("rows", templates.render("table", view))])
    }

    private var view: View {
        let sorted = address.order.flatMap { table.position(of: $0.column) }
        // One line more, for a further condition.
        let lines = address.filters.map(Optional.some) + (address.filters.count < 4 ? [nil] : [])
        let facets = Set(TableFacet.columns(of: table, rows, with: address.facet))
        let all = address.with { ($0.after, $0.limit) = (nil, nil) }
        let numbers = numbers
        let conditions = lines.enumerated().map { condition($0 + 1, $1) }
        let headings = table.columns.enumerated().map { heading($1, isSorted: $0 == sorted, numbers, facets) }
        let rows = rows.enumerated().map { view($1, number: $0 + 1, numbers) }
        let first = address.after == nil ? nil : address.with { $0.after = nil }.address()
        let following = next.map { place in address.with { $0.after = place }.address() }
        return [
            "path": RowAddress.path(table.name), "sources": View.sources(table.sources),
            "conditions": conditions, "sorts": columns(chosen: sorted),
            "isDescending": address.order?.isDescending == true, "columns": headings, "rows": rows,
            "isEmpty": rows.isEmpty, "facet": facet, "count": count.map { $0 == "1" ? "1 row" : $0 + " rows" },
            "formats": FileFormat.links { all.address($0) }, "first": first, "next": following,
        ]
    }

    private static func choice(_ name: String, _ value: String, isChosen: Bool) -> View {
        ["name": name, "value": value, "isChosen": isChosen]
    }

    /// Returns the columns to choose from.
    private func columns(chosen: Int?) -> [View] {
        table.columns.enumerated().map { Self.choice($1.name, $1.name, isChosen: $0 == chosen) }
    }

    private func condition(_ number: Int, _ filter: RowQuery.Filter?) -> View {
        let comparisons = RowQuery.Filter.Comparison.allCases.map {
            Self.choice($0.word, $0.rawValue, isChosen: $0 == filter?.comparison)
        }
        return [
            "number": number, "columns": columns(chosen: filter.flatMap { table.position(of: $0.column) }),
            "comparisons": comparisons, "value": filter?.value ?? "",
        ]
    }

    private func heading(_ column: BrowsedTable.Column, isSorted: Bool, _ numbers: Set<String>, _ facets: Set<String>)
        -> View
    {
        let isDescending = address.order?.isDescending == true
        let other = address.with {
            $0.after = nil
            $0.order = RowQuery.Order(column.name, isDescending: isSorted && !isDescending)
        }
        return [
            "name": column.name, "type": column.type, "address": other.address(),
            "sorted": isSorted ? (isDescending ? "descending" : "ascending") : nil,
            "isNumber": numbers.contains(column.name),
            // Where its values are counted; nil where they are too many.
            "facetAddress": facets.contains(column.name)
                ? address.with { ($0.after, $0.facet) = (nil, column.name) }.address() : nil,
            "isCounted": column.name.lowercased() == address.facet?.lowercased(),
        ]
    }

    /// The most characters of a text that is never broken.
    private static let short = 24

    private func view(_ row: BrowsedRow, number: Int, _ numbers: Set<String>) -> View {
        let links = Dictionary(
            table.links.filter { $0.columns.count == 1 }.map { ($0.columns[0].lowercased(), $0) }
        ) { first, _ in first }
        let cells: [View] = zip(table.columns, row.values).map { column, value in
            let text = value.shown(most: 200)
            // The class of `page.css`: of a number, or of a text that fits into a line.
            let kind = numbers.contains(column.name) ? "number" : text.count <= Self.short ? "short" : nil
            // The row to which it refers, or the page whose address it is.
            let link = links[column.name.lowercased()].flatMap { RowAddress.address($0.table, $0.targets, [value]) }
            return [
                "name": column.name, "text": text, "isNull": value == .null, "kind": kind,
                "link": link ?? value.webAddress,
            ]
        }
        let key = row.place.key.map { $0.shown(most: 40) }.joined(separator: ", ")
        return [
            "address": RowAddress.path(table.name, row: row.place.key),
            "label": table.key.isEmpty ? "Row \(number)" : key, "cells": cells,
        ]
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

    /// The value where it is the address of a page, which a link may lead to; nil for everything else, such as `javascript:`.
    var webAddress: String? {
        guard case .text(let text) = self, text.utf8.count <= 2_000 else { return nil }
        let start = text.prefix(8).lowercased()
        guard let scheme = ["http://", "https://"].first(where: start.hasPrefix), text.count > scheme.count else {
            return nil
        }
        let isAddress = text.unicodeScalars.allSatisfy {
            !$0.properties.isWhitespace && $0.properties.generalCategory != .control
        }
        return isAddress ? text : nil
    }

    /// The value for people, up to a number of characters.
    func shown(most: Int) -> String {
        guard case .text(let text) = self else { return description }
        let start = text.prefix(most)
        return start.endIndex < text.endIndex ? start + " …" : text
    }
}
