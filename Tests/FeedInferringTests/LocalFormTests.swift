import Testing

@testable import FeedInferring

/// Numbers and dates that are not written as XML Schema writes them, references, and what others have already.
@Suite struct LocalFormTests {
    private func propose(
        _ document: String, written: Set<String> = [], name: String = "s"
    ) throws -> String {
        let profile = DocumentProfile()
        try MappingProposal.read(document, profile)
        let draft = try MappingDraft(profile: profile)
        try MappingProposal.read(document, draft.counter())
        return MappingProposal(draft, url: "https://example.org/d.xml", sourceName: name, writtenTables: written).toml
    }

    /// The declaration of the column `x` of records that have these values, with its comment.
    private func column(_ values: String...) throws -> String {
        let records = values.map { "<e v='-'><x>\($0)</x></e>" }.joined()
        let lines = try propose("<l><e v='-'/>\(records)</l>").split(separator: "\n")
        return try String(#require(lines.first { $0.hasPrefix("x = ") }).dropFirst(4))
    }

    @Test(arguments: [
        (["16,95", "17,00"], #"{ path = "x", type = "decimal", decimal_separator = "," }  # as in 16,95"#),
        (["16,95", "17"], #"{ path = "x", type = "decimal", decimal_separator = "," }  # as in 16,95"#),
        (
            ["24,95", "1.016,50", "8,49"],
            #"{ path = "x", type = "decimal", decimal_separator = ",", group_separator = "." }  # as in 1.016,50"#
        ),
        (
            ["1.016", "8,49"],
            #"{ path = "x", type = "decimal", decimal_separator = ",", group_separator = "." }  # as in 8,49"#
        ),
        (["1,016.50", "8.49"], #"{ path = "x", type = "decimal", group_separator = "," }  # as in 1,016.50"#),
        (["1,234,567", "1,234"], #"{ path = "x", type = "integer", group_separator = "," }  # as in 1,234,567"#),
        (["1 234", "12\u{A0}345"], #"{ path = "x", type = "integer", group_separator = " " }  # as in 1 234"#),
        (["1'234.50", "-2.25"], #"{ path = "x", type = "decimal", group_separator = "'" }  # as in 1'234.50"#),
        (["0,500"], #"{ path = "x", type = "decimal", decimal_separator = "," }  # as in 0,500"#),
        (["007,5"], #""x""#), (["1,2,3"], #""x""#), (["1.2.3,4"], #""x""#), (["12,34,56"], #""x""#), (["-"], #""x""#),
        (["1,5", "1.5"], #""x""#), ([","], #""x""#), (["16,95", "none"], #""x""#), (["1234567890123456,5"], #""x""#),
    ])
    func numbers(values: [String], expected: String) throws {
        let records = values.map { "<e v='-'><x>\($0)</x></e>" }.joined()
        let lines = try propose("<l><e v='-'/>\(records)</l>").split(separator: "\n")
        #expect(try #require(lines.first { $0.hasPrefix("x = ") }).dropFirst(4) == expected)
    }

    @Test(arguments: [
        (["18.02.2019"], #"{ path = "x", type = "date", format = "%d.%m.%Y" }  # as in 18.02.2019"#),
        (["1.2.2019", "18.02.2019"], #"{ path = "x", type = "date", format = "%d.%m.%Y" }  # as in 1.2.2019"#),
        (["02/03/2019", "02/18/2019"], #"{ path = "x", type = "date", format = "%m/%d/%Y" }  # as in 02/18/2019"#),
        (["02-03-2019", "18-02-2019"], #"{ path = "x", type = "date", format = "%d-%m-%Y" }  # as in 18-02-2019"#),
        (["2019/02/18"], #"{ path = "x", type = "date", format = "%Y/%m/%d" }  # as in 2019/02/18"#),
        (
            ["18.02.2019 14:30", "19.02.2019 00:00"],
            #"{ path = "x", type = "datetime", format = "%d.%m.%Y %H:%M" }  # as in 18.02.2019 14:30; "#
                + "without an offset: read as UTC, or in the time_zone of the column or source"
        ),
        (
            ["2/18/2019 9:30", "2/19/2019 14:00"],
            #"{ path = "x", type = "datetime", format = "%m/%d/%Y %H:%M" }  # as in 2/18/2019 9:30; "#
                + "without an offset: read as UTC, or in the time_zone of the column or source"
        ),
        (["31.02.2019"], #""x""#), (["18.02.2019", "18/02/2019"], #""x""#),
        (["18.02.19", "19.02.19"], #""x""#), (["18.02.2019 10", "19.02.2019 11"], #""x""#),
        (["18.02.2019", "18.02.2019 10:00"], #""x""#),
        (["1.2.3"], #""x""#), (["18.02.2019 24:00"], #""x""#),
    ])
    func dates(values: [String], expected: String) throws {
        let records = values.map { "<e v='-'><x>\($0)</x></e>" }.joined()
        let lines = try propose("<l><e v='-'/>\(records)</l>").split(separator: "\n")
        #expect(try #require(lines.first { $0.hasPrefix("x = ") }).dropFirst(4) == expected)
    }

    @Test func whatIsNotDecidedStaysTextAndSaysSo() throws {
        #expect(try column("1,234", "5,678").hasPrefix(#""x"  # 1,234: a fraction, or thousands? "#))
        let date = try column("02/03/2019", "04/05/2019")
        #expect(
            date.hasPrefix(#""x"  # 02/03/2019: day or month first? type = "date", format = "%d/%m/%Y" or "#), "\(date)"
        )
    }

    /// One value that is something else makes a column text. A comment names it.
    @Test(arguments: [
        ((1...12).map { "\($0).50" }, "auf Anfrage", "numbers"), ((1...12).map { "1.\(100 + $0),5" }, "n/a", "numbers"),
        ((10...21).map { "2026-01-\($0)" }, "2026-02-31", "dates"),
        ((10...21).map { "\($0)/01/2026" }, "31/02/2026", "dates"),
        (Array(repeating: "true", count: 12), "perhaps", "true or false"),
    ])
    func anExceptionIsNamed(values: [String], exception: String, kind: String) throws {
        func column(_ values: [String]) throws -> String {
            let records = values.enumerated().map { "<e v='\($0)'><x>\($1)</x></e>" }.joined()
            let lines = try propose("<l>\(records)</l>").split(separator: "\n")
            return try String(#require(lines.first { $0.hasPrefix("x = ") }).dropFirst(4))
        }
        let comment = "# text because of \"\(exception)\"; the 12 values before it are \(kind)"
        #expect(try column(values + [exception] + values) == "\"x\"  \(comment)")
        // A few values of one kind show nothing.
        #expect(try column(values.prefix(9) + [exception]) == #""x""#)
    }

    // MARK: - Other columns

    /// The declarations of the columns `x`, `y`, … of records with one value each, with their comments.
    private func columns(_ values: [String]) throws -> [String] {
        let names = ["x", "y", "z"].prefix(values.count)
        let record = zip(names, values).map { "<\($0)>\($1)</\($0)>" }.joined()
        let lines = try propose("<l><e v='-'/><e v='-'>\(record)</e></l>").split(separator: "\n")
        return try names.map { name in
            try String(#require(lines.first { $0.hasPrefix("\(name) = ") }).dropFirst(4))
        }
    }

    @Test(arguments: [
        (
            "12.500", "1.234,50",
            #"{ path = "x", type = "integer", decimal_separator = ",", group_separator = "." }"#
                + "  # as in 12.500, as another column has 1.234,50"
        ),
        (
            "12.500", "16,95",
            #""x"  # 12.500: a fraction, or thousands? Other columns have 16,95; type = "decimal", "#
                + #"and for thousands also decimal_separator = ",", group_separator = ".""#
        ),
        (
            "1,234", "1.234,50",
            #"{ path = "x", type = "decimal", decimal_separator = ",", group_separator = "." }"#
                + "  # as in 1,234, as another column has 1.234,50"
        ),
        (
            "1,234", "1,234.50",
            #"{ path = "x", type = "integer", group_separator = "," }  # as in 1,234, as another column has 1,234.50"#
        ),
        ("12.500", "9.99", #"{ path = "x", type = "decimal" }"#),
        ("12.500", "1,234.50", #"{ path = "x", type = "decimal" }"#),
        (
            "12.500", "1 234,50",
            #""x"  # 12.500: a fraction, or thousands? Other columns have 1 234,50; type = "decimal", "#
                + #"and for thousands also decimal_separator = ",", group_separator = ".""#
        ),
        (
            "12.500", "1234",
            #"{ path = "x", type = "decimal" }  # 12.500: read as a fraction; if it is thousands, "#
                + #"add decimal_separator = ",", group_separator = ".""#
        ),
        ("0.500", "none", #"{ path = "x", type = "decimal" }"#),
        (
            "03/04/2026", "25/12/2026",
            #"{ path = "x", type = "date", format = "%d/%m/%Y" }  # as in 03/04/2026, as another column has 25/12/2026"#
        ),
        (
            "03/04/2026", "12/25/2026 14:30",
            #"{ path = "x", type = "date", format = "%m/%d/%Y" }  # as in 03/04/2026, as another column has "#
                + "12/25/2026 14:30"
        ),
        (
            "03/04/2026", "25.12.2026",
            #""x"  # 03/04/2026: day or month first? type = "date", format = "%d/%m/%Y" or "%m/%d/%Y""#
        ),
    ])
    func anotherColumnDecides(value: String, other: String, expected: String) throws {
        #expect(try columns([value, other])[0] == expected)
    }

    @Test func columnsThatContradictEachOtherDecideNothing() throws {
        let numbers = try columns(["12.500", "1.234,50", "9.99"])
        #expect(
            numbers == [
                #""x"  # 12.500: a fraction, or thousands? Other columns have 1.234,50 and 9.99; type = "decimal", "#
                    + #"and for thousands also decimal_separator = ",", group_separator = ".""#,
                #"{ path = "y", type = "decimal", decimal_separator = ",", group_separator = "." }  # as in 1.234,50"#,
                #"{ path = "z", type = "decimal" }"#,
            ])
        let commas = try columns(["1,234", "1.234,50", "9.99"])
        #expect(
            commas[0] == #""x"  # 1,234: a fraction, or thousands? Other columns have 1.234,50 and 9.99; "#
                + #"type = "decimal", decimal_separator = "," or group_separator = ",""#)
        let dates = try columns(["03/04/2026", "25/12/2026", "12/25/2026"])
        #expect(
            dates[0] == #""x"  # 03/04/2026: day or month first? Other columns have 25/12/2026 and 12/25/2026; "#
                + #"type = "date", format = "%d/%m/%Y" or "%m/%d/%Y""#)
        #expect(dates[2] == #"{ path = "z", type = "date", format = "%m/%d/%Y" }  # as in 12/25/2026"#)
    }

    @Test func codesDecideNothingAndAreNotDecided() throws {
        let toml = try propose("<l><e id='1' version='1.0' x='12.500'/><e id='2' version='2.0' x='1.250'/></l>")
        #expect(toml.contains("read as a fraction"), "\(toml)")
        let codes = try propose("<l><e id='1' price='9,95' plz='12.500'/><e id='2' price='1,25' plz='12.501'/></l>")
        #expect(codes.contains("plz   = \"@plz\"\n"), "\(codes)")
    }

    @Test func aPriceWithACommaIsADecimal() throws {
        let toml = try propose("<l><e id='1' price='9,5'/><e id='2' price='10'/></l>")
        #expect(toml.contains(#"price = { path = "@price", type = "decimal", decimal_separator = "," }"#), "\(toml)")
    }

    // MARK: - References

    private let shop = """
        <shop><category id='1'><name>a</name></category><category id='2'><name>b</name></category>
        <product id='7'><default_category>1</default_category></product>
        <product id='8'><default_category>1</default_category></product>
        """

    @Test func aValueThatIsAlwaysAKeyOfTheTableOfItsNameIsAReference() throws {
        let toml = try propose(shop + "</shop>")
        let expected =
            #"default_category = { path = "default_category", type = "integer", references = "category(id)" }  # each value is a key of category"#
        #expect(toml.contains(expected), "\(toml)")
        for (attribute, name) in [
            ("categoryid", "categoryid"), ("category-ref", "category_ref"), ("CategoryID", "category_id"),
        ] {
            let toml = try propose(
                "<s><category id='1'/><category id='2'/><p id='1' \(attribute)='1'/><p id='2' \(attribute)='2'/></s>")
            let found = toml.split(separator: "\n").first { $0.hasPrefix(name) } ?? ""
            #expect(found.contains(#"references = "category(id)""#), "\(toml)")
        }
        let inner = try propose(
            "<s><item id='a'/><item id='b'/><o nr='1'><item ref='a'/></o><o nr='2'><item ref='b'/></o></s>")
        #expect(inner.contains(#"item_ref = { path = "item/@ref", references = "item(id)" }"#), "\(inner)")
    }

    @Test func aValueThatIsOnceNoKeyIsNoReference() throws {
        let toml = try propose(shop + "<product id='9'><default_category>3</default_category></product></shop>")
        #expect(!toml.contains("references"), "\(toml)")
        let tree = try propose("<l><page id='1' page_id='2'/><page id='2' page_id='1'/></l>")
        #expect(!tree.contains("references"), "\(tree)")
    }

    // MARK: - Sync, and tables of others

    @Test func aMirrorIsOfferedAsAComment() throws {
        let toml = try propose("<l><e id='1'/><e id='2'/></l>")
        #expect(
            toml.contains(
                "sync = \"upsert\"\n# sync = \"mirror\"  # instead: deletes rows that the document no longer has\n"))
    }

    @Test func aTableThatAnotherSourceWritesIsLeftToIt() throws {
        let toml = try propose("<l><e id='1'><t>a</t><t>b</t></e><e id='2'/></l>", written: ["E"], name: "my shop")
        #expect(toml.contains("# Another source writes a table \"e\"; to write that one, add a `scope`,"), "\(toml)")
        #expect(toml.contains("table = \"my_shop_e\"\n") && toml.contains("table = \"t\"\n"), "\(toml)")
        #expect(toml.contains("my_shop_e_id = { parent = \"my_shop_e\" }"), "\(toml)")
    }

    @Test func aKeyThatOnlyItsValuesSpeakForSaysSo() throws {
        let toml = try propose("<l>" + (1...5).map { "<e t='a\($0)'/>" }.joined() + "</l>")
        #expect(toml.contains("# 5 records; t is unique in all 5 records, but is not named like a key.\n"), "\(toml)")
    }

    // MARK: - Built-in parsers

    @Test(
        arguments: [
            ("<rss version='2.0'><channel/></rss>", "SyndicationParser"),
            ("<feed xmlns='http://www.w3.org/2005/Atom'/>", "SyndicationParser"),
            (
                "<r:RDF xmlns:r='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns='http://purl.org/rss/1.0/'><channel/></r:RDF>",
                "SyndicationParser"
            ),
            ("<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'/>", "SitemapParser"),
            ("<sitemapindex xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'/>", "SitemapParser"),
            (
                "<g:Envelope xmlns:g='http://www.gesmes.org/xml/2002-08-01' xmlns='http://www.ecb.int/vocabulary/2002-08-01/eurofxref'><Cube/></g:Envelope>",
                "EurofxrefParser"
            ),
            ("<feed><entry/></feed>", nil), ("<rss xmlns='urn:x'/>", nil), ("<r:RDF xmlns:r='urn:r'><x/></r:RDF>", nil),
            ("<Envelope><Cube/></Envelope>", nil),
        ] as [(String, String?)])
    func knownFormats(document: String, parser: String?) throws {
        let profile = DocumentProfile()
        try MappingProposal.read(document, profile)
        #expect(KnownFormat(profile)?.parser == parser)
    }
}
