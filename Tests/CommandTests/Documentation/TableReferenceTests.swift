import Foundation
import FeedStores
import TestStores
import Testing
import TributaryParsers

/// `Documentation/Tables.md` says what a store has.
@Suite(.onEachStore) struct TableReferenceTests {
    private struct Column: Hashable {
        var table: String
        var name: String
    }

    /// Returns the columns that the page describes, as far as the store of the test has them.
    private func documented() throws -> Set<Column> {
        let page = try MarkdownFile("Documentation/Tables.md")
        var columns: Set<Column> = []
        for heading in page.headings where heading.level == 3 {
            let table = heading.text.replacing("`", with: "")
            let section = page.section(of: heading)
            let isPostgres = StoreKind.current == .postgres
            if !isPostgres, section.first(where: { !$0.isEmpty })?.hasPrefix("PostgreSQL only") == true { continue }
            for cells in section.map(\.cells) where cells.count == 2 {
                if !isPostgres, cells[1].hasPrefix("PostgreSQL only") { continue }
                columns.formUnion(cells[0].codeWords.map { Column(table: table, name: $0) })
            }
        }
        return columns
    }

    /// Returns the columns of the tables that are Tributary's own, or a shipped parser's.
    private func stored(_ fixture: DocumentedStore) throws -> Set<Column> {
        let sql = StoreKind.by(
            sqlite: """
                SELECT m.name, p.name FROM sqlite_master m, pragma_table_info(m.name) p
                WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite%' AND m.name <> 'grdb_migrations'
                """,
            postgres: """
                SELECT c.table_name, c.column_name FROM information_schema.columns c
                JOIN information_schema.tables t USING (table_schema, table_name)
                WHERE c.table_schema = current_schema() AND t.table_type = 'BASE TABLE'
                """)
        return Set(
            try fixture.store.rows(sql).compactMap { row in
                let parts = row.split(separator: "|").map(String.init)
                if parts[0] == "product" { return nil }
                guard parts[0] == "tributary_history_product" else { return Column(table: parts[0], name: parts[1]) }
                // Its other columns are those of the table.
                return parts[1].hasPrefix("tributary_")
                    ? Column(table: "tributary_history_T", name: parts[1]) : nil
            })
    }

    @Test func everyTableAndColumnIsDescribedAndNoOther() async throws {
        try await DocumentedStore.with { (fixture) async throws in
            let documented = try self.documented()
            let stored = try self.stored(fixture)
            #expect(stored.subtracting(documented) == [], "columns that Tables.md does not have")
            #expect(documented.subtracting(stored) == [], "columns that no store has")
            let parsers = [SyndicationParser.tables, SitemapParser.tables, EurofxrefParser.tables].joined()
            #expect(Set(parsers).subtracting(stored.map(\.table)) == [])
        }
    }

    @Test func everyRecipeFindsRows() async throws {
        let page = try MarkdownFile("Documentation/Tables.md")
        let other = StoreKind.by(sqlite: "-- PostgreSQL", postgres: "-- SQLite")
        try await DocumentedStore.with { (fixture) async throws in
            for block in page.blocks where block.language == "sql" && !block.text.hasPrefix(other) {
                let rows = try fixture.store.rows(block.text)
                #expect(!rows.isEmpty, "Tables.md:\(block.line)")
            }
        }
    }
}

/// `Documentation/Tables.md` describes Tributary's own tables in the words of their declarations.
@Suite struct OwnTableReferenceTests {
    @Test func everySectionIsThatOfTheDeclaration() throws {
        let page = try MarkdownFile("Documentation/Tables.md")
        for table in OwnTables.all {
            let heading = page.headings.first { $0.level == 3 && $0.text == "`\(table.name)`" }
            let section = heading.map { [$0.text] + page.section(of: $0) } ?? []
            // Lines may be broken anywhere.
            #expect(
                section.flatMap { $0.split(separator: " ") }
                    == table.documentation.dropFirst("### ".count).split { $0.isWhitespace },
                "Tables.md needs this section:\n\n\(table.documentation)")
        }
    }
}
