import FeedStores

/// The page of all tables that sources have written.
struct TableListPage {
    private struct View {
        var tables: [TableView]
        var isEmpty: Bool
    }

    private struct TableView {
        var name: String
        var address: String
        var columns: Int
        var key: String
        var sources: [SourceLink]
    }

    let tables: [BrowsedTable]
    let templates: Templates

    func page() -> Page {
        let views = tables.map { table in
            TableView(
                name: table.name, address: RowAddress.path(table.name), columns: table.columns.count,
                key: table.key.joined(separator: ", "), sources: table.sources.map(SourceLink.init))
        }
        let view = View(tables: views, isEmpty: views.isEmpty)
        return Page(title: "Tables", fragments: [Fragment("tables", templates.render("tables", view))])
    }
}

/// A source that is named with a link to its page.
struct SourceLink {
    var name: String
    var address: String

    init(_ name: String) {
        self.name = name
        address = PageAddress.path(name)
    }
}
