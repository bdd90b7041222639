import FeedConfiguration
import FeedModel
import FeedStores
import Foundation

/// The page of a row: its values, the runs that wrote it, and what it was before.
struct RowPage {
    private static let mostWritings = 20
    /// The time limits of a search for a row in the changelog, which has no index of keys: at first, and on request.
    private static let timeLimits = (first: Duration.milliseconds(50), all: Duration.seconds(5))
    /// The most characters of a value that are shown.
    private static let longest = 20_000
    /// The most columns of which a plot is shown.
    private static let mostPlots = 12

    let table: BrowsedTable
    let key: [StoredValue]
    /// Nil where it is there no more.
    let row: BrowsedRow?
    /// The last runs that wrote the row; nil where they cannot be found in time.
    let writings: [RowWriting]?
    /// Nil where the table has no history.
    let history: [RowChange]?
    /// Those whose rows refer to rows of this one.
    let children: [BrowsedTable]
    let searchesAll: Bool
    /// The table's columns of decimals, in lower case.
    let decimals: Set<String>

    func page(_ templates: Templates) -> Page {
        Page(title: "A row of \(table.name)", fragments: [templates.fragment("row", view)])
    }

    private var view: View {
        let values = values
        let references = references
        let writings = writings?.map { Self.view($0) }
        let entries = history?.map { Self.view($0) } ?? []
        let all = RowAddress.path(table.name, row: key) + "&changelog=all"
        return [
            "isGone": row == nil, "hasValues": !values.isEmpty, "values": values,
            // The rows that refer to this one.
            "references": references, "isReferred": !references.isEmpty,
            "writings": writings ?? [View](), "isLate": writings == nil,
            // Where the whole changelog is searched; nil where it was.
            "all": searchesAll ? nil : all, "isUnwritten": writings?.isEmpty == true && row != nil,
            "plots": plots, "entries": entries, "lacksHistory": entries.isEmpty,
        ]
    }

    /// The numbers that have changed, over time.
    private var plots: [View] {
        let now = Date()
        let found = table.columns.filter { !table.key.contains($0.name) }.compactMap { column in
            let name = column.name.lowercased()
            let isDecimal = decimals.contains(name) || column.type.lowercased().hasPrefix("numeric")
            return StepPlot(name, history ?? [], isDecimal: isDecimal).map { (column.name, $0) }
        }
        return found.prefix(Self.mostPlots).enumerated().map { index, found in
            let id = "plot-\(index)"
            return ["id": id, "name": found.0, "svg": found.1.svg(named: id, now: now)]
        }
    }

    private static func view(_ writing: RowWriting) -> View {
        [
            "operation": writing.operation, "run": writing.run, "source": writing.source,
            "address": writing.source.map { PageAddress.path($0, "/runs/\(writing.run)") },
            "startedAt": writing.startedAt,
        ]
    }

    private static func view(_ change: RowChange) -> View {
        let view = ChangeView(change)
        return [
            "operation": change.operation, "source": change.source.isEmpty ? nil : change.source, "run": change.run,
            "address": change.source.isEmpty ? nil : PageAddress.path(change.source, "/runs/\(change.run)"),
            "startedAt": change.startedAt,
            "columns": view.columns.filter(\.isChanged), "isUnknown": view.isUnknown,
        ]
    }

    /// The columns with their values; of a deleted row, those that its deletion kept.
    private var known: [(column: BrowsedTable.Column, value: StoredValue)] {
        if let row { return zip(table.columns, row.values).map { ($0, $1) } }
        let last = Dictionary(
            (history?.first.flatMap { $0.operation == "delete" ? $0.old : nil } ?? []).map {
                ($0.column.lowercased(), $0.value)
            }
        ) { first, _ in first }
        return table.columns.compactMap { column in last[column.name.lowercased()].map { (column, $0) } }
    }

    /// Returns the address of the rows of a table whose columns have the values of this row's own; nil where one has none.
    private func address(_ table: String, _ columns: [String], of own: [String]) -> String? {
        let row = Dictionary(known.map { ($0.column.name.lowercased(), $0.value) }) { first, _ in first }
        let values = own.compactMap { row[$0.lowercased()] }
        return values.count == columns.count ? RowAddress.address(table, columns, values) : nil
    }

    private var values: [View] {
        let keys = Set(table.key)
        return known.map { column, value in
            let name = column.name.lowercased()
            let link = table.links.first { link in link.columns.contains { $0.lowercased() == name } }
            return [
                "name": column.name, "text": value.shown(most: Self.longest), "isNull": value == .null,
                "isKey": keys.contains(column.name),
                // The row to which it refers, or the page whose address it is.
                "link": link.flatMap { address($0.table, $0.targets, of: $0.columns) } ?? value.webAddress,
            ]
        }
    }

    private var references: [View] {
        children.flatMap { child in
            child.links.filter { $0.table.lowercased() == table.name.lowercased() }.compactMap { link in
                address(child.name, link.columns, of: link.targets).map {
                    ["name": "\(child.name) by \(link.columns.joined(separator: ", "))", "address": $0]
                }
            }
        }
    }
}

extension RowPage {
    /// Reads what the page shows; blocks its thread.
    ///
    /// - Parameters:
    ///   - keys: the keys of the table that the configuration declares.
    ///   - decimals: its columns of decimals, in lower case, which a store may keep as texts.
    ///   - searchesAll: true to search the whole changelog, which may take seconds.
    /// - Returns: nil where there is no such row, and never was one that is remembered.
    /// - Throws: `RowQuery.Problem`, `StoreError`.
    init?(
        _ name: String, _ key: [StoredValue], declared keys: [[String]], decimals: Set<String>, searchesAll: Bool,
        in store: any StoreBrowsing
    ) throws {
        guard let table = try store.browsedTable(name) else { return nil }
        self.table = table
        self.key = key
        self.searchesAll = searchesAll
        self.decimals = decimals
        children = try store.browsedTables().filter { child in
            child.links.contains { $0.table.lowercased() == table.name.lowercased() }
        }
        row = try store.browse(within: RowLines.timeLimit) { try $0.row(key, of: name) }
        history = try store.browse(within: Self.timeLimits.all) {
            try $0.history(of: key, in: name, most: Self.mostWritings)
        }
        if row == nil, history?.isEmpty != false { return nil }
        guard row != nil else {
            writings = []
            return
        }
        do {
            writings = try store.browse(within: searchesAll ? Self.timeLimits.all : Self.timeLimits.first) {
                try $0.writings(of: key, in: name, declared: keys, most: Self.mostWritings)
            }
        } catch let problem as RowQuery.Problem where problem.isLate {
            writings = nil
        }
    }
}

extension TributaryConfiguration {
    /// The declarations of a table.
    private func mappings(of table: String) -> [TableMapping] {
        let mappings = sources.flatMap(\.requests).flatMap { request in
            if case .mapping(let mapping) = request.content { mapping.tables } else { [TableMapping]() }
        }
        return mappings.filter { $0.table.lowercased() == table.lowercased() }
    }

    /// Returns the keys by which mappings are declared to tell the rows of a table apart.
    func declaredKeys(of table: String) -> [[String]] {
        mappings(of: table).map(\.key).reduce(into: []) { if !$1.isEmpty, !$0.contains($1) { $0.append($1) } }
    }

    /// Returns the columns, in lower case, that mappings of a table declare as decimals.
    func decimals(of table: String) -> Set<String> {
        Set(mappings(of: table).flatMap(\.columns).filter { $0.type == .decimal }.map { $0.name.lowercased() })
    }
}
