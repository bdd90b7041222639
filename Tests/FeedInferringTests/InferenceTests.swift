import Foundation
import FeedConfiguration
import Testing
import XMLStream
@testable import FeedInferring

/// What `tributary infer` proposes for small documents of each kind.
@Suite struct InferenceTests {
    private func profile(_ document: String) throws -> DocumentProfile {
        let profile = DocumentProfile()
        try MappingProposal.read(document, profile)
        return profile
    }

    private func propose(_ document: String, url: String = "https://example.org/data.xml", name: String? = "s") throws
        -> MappingProposal
    {
        try MappingProposal(of: document, url: url, sourceName: name)
    }

    /// The tables of a proposal, parsed, with every reference to a parent and every key checked.
    private func proposed(_ document: String) throws -> [Table] {
        try Table.all(in: propose(document).toml)
    }

    /// A proposed table as TOML has it.
    private struct Table {
        var name: String
        var element: String
        var key: [String]
        var columns: [String: TOMLValue]

        static func all(in toml: String) throws -> [Table] {
            guard case .table(let sources)? = try TOMLParser.parse(toml)["sources"],
                case .table(let source)? = sources.entries.first?.node.value,
                case .array(let requests)? = source["requests"], case .table(let request)? = requests.first?.value,
                case .array(let tables)? = request["tables"]
            else { throw InferenceError(description: "not the shape of a source:\n\(toml)") }
            #expect(sources.keys.count == 1 && requests.count == 1 && source["cache"] == .string("1h"))
            let found = try tables.map { try Table($0.value) }
            #expect(Set(found.map { $0.name.lowercased() }).count == found.count, "\(toml)")
            for table in found {
                #expect(table.key.allSatisfy { table.columns[$0] != nil }, "\(toml)")
                for parent in table.columns.values.compactMap({ table.parent($0) }) {
                    #expect(found.contains { $0.name == parent }, "\(toml)")
                }
            }
            return found
        }

        init(_ value: TOMLValue) throws {
            guard case .table(let nodes) = value, case .string(let name)? = nodes["table"],
                case .string(let element)? = nodes["element"], case .table(let columns)? = nodes["columns"]
            else { throw InferenceError(description: "not a table") }
            #expect(Set(nodes.keys).isSubset(of: ["table", "element", "key", "sync", "within", "columns"]))
            #expect(nodes["sync"] == .string(nodes["within"] == nil ? "upsert" : "mirror"))
            self.name = name
            self.element = element
            self.columns = Dictionary(uniqueKeysWithValues: columns.entries.map { ($0.key, $0.node.value) })
            key = []
            if case .array(let names)? = nodes["key"] {
                key = names.compactMap { if case .string(let name) = $0.value { name } else { nil } }
            }
        }

        func parent(_ column: TOMLValue) -> String? {
            guard case .table(let options) = column, case .string(let table)? = options["parent"] else { return nil }
            return table
        }

        /// The path of a column, short or long; nil where it has none.
        func path(_ column: String) -> String? {
            switch columns[column] {
            case .string(let path): return path
            case .table(let options):
                guard case .string(let path)? = options["path"] else { return nil }
                return path
            default: return nil
            }
        }

        func type(_ column: String) -> String {
            guard case .table(let options)? = columns[column], case .string(let type)? = options["type"] else {
                return "text"
            }
            return type
        }

        func isRequired(_ column: String) -> Bool {
            guard case .table(let options)? = columns[column] else { return false }
            return options["required"] == .boolean(true)
        }
    }

    // MARK: - Kinds of documents

    private let rss = """
        <rss version="2.0" xmlns:media="http://search.yahoo.com/mrss/"><channel>
          <title>News</title><link>https://example.org</link><category>a</category><category>b</category>
          <item><title>One</title><media:title>Uno</media:title><guid isPermaLink="false">g1</guid>
            <pubDate>Tue, 03 Jun 2003 09:39:21 GMT</pubDate><category>x</category><category>y</category>
            <enclosure url="https://example.org/1.mp3" length="12216320" type="audio/mpeg"/></item>
          <item><title>Two</title><media:title>Dos</media:title><guid isPermaLink="false">g2</guid>
            <pubDate>Wed, 04 Jun 2003 09:39:21 GMT</pubDate></item>
        </channel></rss>
        """

    @Test func itemsOfAFeedAreATableAndTheirCategoriesAnother() throws {
        let toml = try propose(rss, url: "https://example.org/news.rss", name: nil).toml
        for line in [
            "[sources.news]", "[[sources.news.requests]]", "url = \"https://example.org/news.rss\"",
            "[[sources.news.requests.tables]]", "table = \"item\"", "element = \"/rss/channel/item\"",
            "key = [\"guid\"]",
            "[sources.news.requests.tables.columns]", "element = \"/rss/channel/item/category\"",
            "key = [\"item_guid\", \"position\"]", "item_guid = { parent = \"item\" }",
            "position  = { ordinal = true }",
            "value     = \".\"", "namespaces = { media = \"http://search.yahoo.com/mrss/\" }",
            "# 2 records; guid is unique in all 2 records.",
        ] {
            #expect(toml.split(separator: "\n").contains { $0 == line }, "\(line)\nin\n\(toml)")
        }
        let tables = try Table.all(in: toml)
        #expect(tables.map(\.name) == ["item", "category"])
        let item = try #require(tables.first)
        #expect(item.path("title") == "{}title" && item.path("media_title") == "media:title")
        #expect(item.path("pub_date") == "pubDate" && item.type("pub_date") == "datetime")
        #expect(item.path("enclosure_length") == "enclosure/@length" && item.type("enclosure_length") == "integer")
        #expect(item.path("guid_is_perma_link") == "guid/@isPermaLink" && item.type("guid_is_perma_link") == "boolean")
        #expect(!item.columns.keys.contains { item.isRequired($0) })
    }

    @Test func prefixesOnlyWhereNamesDifferByNamespaceOnly() throws {
        let toml = try propose(
            """
            <feed xmlns="http://www.w3.org/2005/Atom" xmlns:m="urn:media" xmlns:t="urn:thread">
              <entry><id>1</id><title>a</title><m:title>b</m:title><t:total>3</t:total>
                <updated>2026-01-01T10:00:00Z</updated><content type="xhtml">
                <div xmlns="http://www.w3.org/1999/xhtml"><p>Hi <b>you</b></p></div></content></entry>
              <entry><id>2</id><title>c</title><m:title>d</m:title><t:total>4</t:total>
                <updated>2026-01-02T10:00:00Z</updated><content type="html">x</content></entry>
            </feed>
            """
        ).toml
        #expect(
            toml.contains(
                "namespaces = { \"\" = \"http://www.w3.org/2005/Atom\", atom = \"http://www.w3.org/2005/Atom\", m = \"urn:media\" }\n"
            ))
        let entry = try #require(try Table.all(in: toml).first)
        #expect(entry.element == "/feed/entry" && entry.key == ["id"])
        #expect(entry.path("title") == "atom:title" && entry.path("m_title") == "m:title")
        #expect(entry.path("total") == "total" && entry.type("total") == "integer")
        #expect(entry.type("updated") == "datetime")
        #expect(entry.path("content") == "content" && entry.type("content") == "xml")
    }

    @Test func oneNamespaceUnderTwoPrefixesIsOnePath() throws {
        let tables = try proposed(
            "<l><e xmlns:a='urn:1'><a:n>x</a:n></e><e xmlns:b='urn:1'><b:n>y</b:n></e></l>")
        #expect(tables.map { Array($0.columns.keys) } == [["n"]])
    }

    @Test func linesOfOrdersReferToTheirOrder() throws {
        let tables = try proposed(
            """
            <orders><order number="A1"><customer><name>Ann</name><zip>01234</zip></customer>
                <lines><line sku="x"><price>9.90</price><tag>p</tag><tag>q</tag></line>
                <line sku="y"><price>10.00</price></line></lines></order>
              <order number="A2"><customer><name>Bob</name><zip>81234</zip></customer>
                <lines><line sku="x"><price>1.50</price></line></lines></order></orders>
            """)
        #expect(tables.map(\.name) == ["order", "line", "tag"])
        #expect(
            tables.map(\.element) == [
                "/orders/order", "/orders/order/lines/line", "/orders/order/lines/line/tag",
            ])
        #expect(tables[0].key == ["number"] && tables[0].path("customer_name") == "customer/name")
        #expect(tables[0].type("customer_zip") == "text")
        #expect(
            tables[1].key == ["order_number", "sku"] && tables[1].parent(tables[1].columns["order_number"]!) == "order")
        #expect(tables[1].type("price") == "decimal")
        // The key of a line is of two columns: the store gives it one that a tag can hold.
        #expect(tables[2].key == ["line_id", "position"] && tables[2].parent(tables[2].columns["line_id"]!) == "line")
        #expect(tables[2].path("value") == ".")
    }

    @Test func ratesBelongToTheDayOfTheirWrapper() throws {
        let tables = try proposed(
            """
            <g:Envelope xmlns:g="urn:gesmes" xmlns="urn:eurofxref"><g:subject>Rates</g:subject>
            <Cube><Cube time="2026-11-20"><Cube currency="USD" rate="1.0811"/><Cube currency="JPY" rate="141.58"/>
            <Cube currency="CZK" rate="23.4"/></Cube></Cube></g:Envelope>
            """)
        #expect(tables.map(\.element) == ["/Envelope/Cube/Cube/Cube"])
        #expect(tables[0].key == ["time", "currency"])
        #expect(tables[0].path("time") == "../@time" && tables[0].type("time") == "date")
        #expect(tables[0].path("rate") == "@rate" && tables[0].type("rate") == "decimal")
    }

    @Test func outlinesInOutlinesAreOneTable() throws {
        let tables = try proposed(
            """
            <opml version="2.0"><head><title>t</title></head><body>
              <outline text="News"><outline text="A" xmlUrl="https://a.org"/><outline text="B" xmlUrl="https://b.org">
                <note>n</note><note>m</note></outline></outline>
              <outline text="C" xmlUrl="https://c.org"/></body></opml>
            """)
        #expect(tables.map(\.element) == ["outline", "outline/note"])
        #expect(tables[0].columns.keys.sorted() == ["parent_position", "position", "text", "xml_url"])
        #expect(tables[0].key == ["position"])
        #expect(tables[0].columns["parent_position"].flatMap(tables[0].parent) == "outline")
    }

    @Test func recordsWithinOthersOfTheirTableNameThem() throws {
        let inner = "<category id='1'><name>a</name><category id='2'><name>b</name></category></category>"
        let wrapped =
            "<category id='1'><name>a</name><children><category id='2'><name>b</name></category></children></category>"
        for levels in [inner, wrapped] {
            let toml = try propose("<shop>\(levels)<category id='3'><name>c</name></category></shop>").toml
            #expect(toml.contains("key = [\"id\"]\n"), "\(toml)")
            #expect(
                toml.contains("parent_id = { parent = \"category\" }  # the category around it\n"), "\(toml)")
        }
        let taken = try propose(
            "<l><c id='1' parent_id='x'><c id='2' parent_id='y'/></c><c id='3' parent_id='z'/></l>"
        ).toml
        #expect(taken.contains("parent_c_id = { parent = \"c\" }"), "\(taken)")
    }

    @Test func listsOfTexts() throws {
        let tables = try proposed("<cities><city>Paris</city><city>Roma</city><city>Oslo</city></cities>")
        #expect(tables.map(\.element) == ["/cities/city"])
        #expect(tables[0].columns == ["value": .string(".")] && tables[0].name == "city")
    }

    @Test func singleRecords() throws {
        let one = try proposed(
            """
            <products><product><id>7</id><title>t</title>
              <image><src>1</src></image><image><src>2</src></image></product>
            </products>
            """)
        #expect(one.map(\.element) == ["/products/product", "/products/product/image"])
        #expect(one[0].key == ["id"] && one[1].key == ["product_id", "position"])

        let feed = try proposed(
            "<rss><channel><title>t</title><item><guid>1</guid><title>x</title></item></channel></rss>")
        #expect(feed.map(\.element) == ["/rss/channel/item"])

        let flat = try proposed("<status code='ok'><uptime>5</uptime><load>0.5</load></status>")
        #expect(flat.map(\.element) == ["/status"])
        #expect(flat[0].type("uptime") == "integer" && flat[0].path("code") == "@code")
    }

    /// A round trip comes to a stop twice.
    @Test func aSequenceIsAKeyWithinItsRecord() throws {
        func trip(_ id: Int) -> String {
            let stops = (1...3).map { "<stop><stop_sequence>\($0)</stop_sequence><stop_id>S\($0)</stop_id></stop>" }
            return "<trip><id>\(id)</id>\(stops.joined())</trip>"
        }
        let tables = try proposed("<trips>\(trip(1))\(trip(2))\(trip(3))</trips>")
        #expect(tables.map(\.key) == [["id"], ["trip_id", "stop_sequence"]])
    }

    @Test func recordsOfOneNameAtSeveralPlaces() throws {
        let tables = try proposed(
            "<a><x><item k='1'/><item k='2'/></x><y><item k='1'/><item k='2'/><item k='3'/></y></a>")
        #expect(tables.map(\.name) == ["y_item", "x_item"])
        #expect(tables.map(\.element) == ["/a/y/item", "/a/x/item"])
    }

    @Test func repeatedWrappersWithoutValuesAreNoTables() throws {
        let tables = try proposed(
            "<a><g><e id='1'><t>p</t><t>q</t></e><e id='2'/></g><g><e id='3'/><e id='4'/></g></a>")
        #expect(tables.map(\.element) == ["/a/g/e", "/a/g/e/t"])
        // The position in each of the wrappers would be no key.
        let split = "<a><r id='1'><s><p v='1'/><p v='2'/></s><s><p v='1'/></s></r><r id='2'/></a>"
        let points = try proposed(split)
        #expect(points.map(\.name) == ["r", "p"])
        #expect(points[1].key == ["r_id", "position"])
        #expect(try propose(split).toml.contains("position = { ordinal = \"parent\" }"))
    }

    @Test func runningTextStaysInOnePiece() throws {
        let tables = try proposed(
            """
            <papers><paper id="1"><title>On <i>E. coli</i> and others</title></paper>
            <paper id="2"><title>On <i>C. elegans</i> and the rest</title></paper></papers>
            """)
        #expect(tables.count == 1 && tables[0].path("title") == "string(title)")
        #expect(tables[0].columns.count == 2)
    }

    @Test func nothingToLoad() throws {
        #expect(throws: InferenceError.self) { try propose("<a/>") }
        #expect(throws: InferenceError.self) { try propose("<a><b><c/></b></a><!-- x -->").toml == "" }
        #expect(throws: InferenceError.self) { try MappingDraft(profile: DocumentProfile()) }
    }

    // MARK: - Names

    @Test func hostileNames() throws {
        let toml = try propose(
            """
            <r><tributary_run a-b="1" a.b="2" Größe="3" order="4" group="5" Name="6" name="7" rowid="8" товар="9"
              sqlite_a="0"/><tributary_run a-b="2" a.b="2" Größe="3" order="4" group="5" Name="6" name="8" rowid="8"
              товар="9" sqlite_a="0"/></r>
            """, url: "https://example.org/a\"b\\${X}", name: "my \"shop\".eu"
        ).toml
        #expect(toml.contains(#"[sources."my \"shop\".eu"]"#))
        #expect(toml.contains(#"url = "https://example.org/a\"b\\$${X}""#))
        let table = try #require(try Table.all(in: toml).first)
        #expect(table.name == "x_tributary_run" && table.element == "/r/tributary_run")
        let names = ["a_b", "a_b_2", "group", "grosse", "name", "name_2", "order", "rowid_2", "tovar", "x_sqlite_a"]
        #expect(table.columns.keys.sorted() == names.sorted())
        #expect(table.path("a_b_2") == "@a.b" && table.path("grosse") == "@Größe" && table.path("tovar") == "@товар")
    }

    @Test func tablesThatOthersHaveAreLeftToThem() throws {
        let feed = "<feed><entry id='1'><tag>a</tag><tag>b</tag></entry><entry id='2'/></feed>"
        let proposal = try MappingProposal(of: feed, url: "x", takenTables: ["Entry", "feed", "tag"])
        #expect(try Table.all(in: proposal.toml).map(\.name) == ["feed_entry", "entry_tag"])
    }

    @Test(arguments: [
        ("pubDate", "pub_date"), ("XMLFile", "xml_file"), ("DATAID", "dataid"), ("a--b..c", "a_b_c"), ("_x_", "x"),
        ("Straße", "strasse"), ("iso639Id", "iso639_id"), ("·", ""), ("_1", "n1"),
    ])
    func snakeCase(name: String, expected: String) {
        #expect(SQLName.snakeCase(name) == expected)
    }

    @Test(arguments: [
        ("https://www.ecb.europa.eu/stats/eurofxref-daily.xml?x=1", "eurofxref_daily"),
        ("https://daringfireball.net/feeds/main", "daringfireball"), ("https://example.org/", "example"),
        ("file:///data/my%20shop.xml", "my_shop"), ("feed.xml", "feed"), ("", "source"),
    ])
    func sourceNames(url: String, expected: String) {
        #expect(SourceName.make(of: url) == expected)
    }

    // MARK: - Types

    @Test(arguments: [
        (["1", "-20", "9223372036854775807"], "integer"), (["1", "007"], "text"), (["+1", "2"], "text"),
        (["9223372036854775808"], "text"), (["9.90", "10.00"], "decimal"), (["9.90", "10"], "decimal"),
        (["4.15", "3.0"], "decimal"), (["0.000001", "3.0", "7"], "decimal"), (["0.0000001", "3.0"], "real"),
        (["0.1234567", "0.7654321"], "decimal"), (["52.5200066", "13"], "real"), (["4.15", "3e0"], "real"),
        (["1.5e-7"], "real"), (["0.1234567890123456"], "real"),
        (["48.85837009999999", "2.2944813000000295"], "real"), (["0.123456789012345678"], "text"), ([".5"], "text"),
        (["NaN"], "text"),
        (["true", "False"], "boolean"), (["yes", "no"], "text"), (["2026-11-21"], "date"),
        (["2026-11-21", "2026-11-21T10:00:00+01:00"], "datetime"), (["Tue, 03 Jun 2003 09:39:21 GMT"], "datetime"),
        (["2026"], "integer"), (["2026-11"], "text"), (["10:30"], "text"), (["2026-02-30"], "text"),
        (["1", ""], "integer"),
        (["", ""], "text"),
    ])
    func types(values: [String], expected: String) throws {
        let document = "<l><e v='-'/>" + values.map { "<e v='-'><x>\($0)</x></e>" }.joined() + "</l>"
        let table = try #require(try proposed(document).first)
        #expect(table.type("x") == expected)
    }

    @Test func codesStayText() throws {
        let table = try #require(
            try proposed("<l><e version='1.0' zip='12345' productEAN='4012345678901' n='1'/><e n='2'/></l>").first)
        #expect(["version", "zip", "product_ean"].map(table.type) == ["text", "text", "text"])
        #expect(table.type("n") == "integer")
    }

    /// One title that is missing tomorrow must not discard the feed.
    @Test func nothingButKeysIsRequired() throws {
        let five = (1...5).map { "<e id='\($0)' a='x' b='\($0 == 3 ? "" : "x")'><c>\($0 % 2)</c></e>" }.joined()
        let table = try #require(try proposed("<l>\(five)</l>").first)
        #expect(table.key == ["id"] && !["id", "a", "b", "c"].contains(where: table.isRequired))
    }

    @Test func whatLooksLikeMoneyIsDecimal() throws {
        let offer =
            "<o id='1' price='10' qty='2'><unit_price>9.5</unit_price><cost><net>3</net></cost><price_count>3</price_count>"
        let other =
            "<o id='2' price='12' qty='3'><unit_price>9.25</unit_price><cost><net>4</net></cost><price_count>4</price_count>"
        let table = try #require(try proposed("<l>\(offer)</o>\(other)</o></l>").first)
        #expect(["price", "unit_price", "cost_net"].map(table.type) == ["decimal", "decimal", "decimal"])
        #expect(["qty", "price_count"].map(table.type) == ["integer", "integer"])
    }

    // MARK: - Keys

    @Test func keysByName() throws {
        func key(_ records: String...) throws -> [String] {
            try #require(try proposed("<l>" + records.joined() + "</l>").first).key
        }
        #expect(try key("<e link='1'><guid>1</guid></e>", "<e link='2'><guid>2</guid></e>") == ["guid"])
        #expect(try key("<e id='1'><id>x</id></e>", "<e id='2'><id>y</id></e>") == ["id"])
        #expect(try key("<e id='1' url='a'/>", "<e id='1' url='b'/>") == ["url"])
        #expect(try key("<shopitem URL='a' ITEM_ID='1'/>", "<shopitem URL='b' ITEM_ID='2'/>") == ["item_id"])
        #expect(try key("<e id='1' t='a'/>", "<e t='b'/>") == [], "not in every record")
        #expect(try key("<e id='1.5'/>", "<e id='2.5'/>") == [], "an amount")
        #expect(try key("<e><c id='1'/><t>a</t></e>", "<e><c id='2'/><t>b</t></e>") == [], "something else's id")
        func vehicle(_ id: Int) -> String {
            "<vehicles><vehicle><id>V\(id)</id></vehicle><pos><lat>5\(id)</lat></pos></vehicles>"
        }
        #expect(try key(vehicle(1), vehicle(2), vehicle(3)) == ["vehicle_id"], "the record wraps what has the id")
    }

    @Test func keysWithoutNamesNeedMoreRecords() throws {
        func records(_ count: Int) -> String { (1...count).map { "<e t='a\($0)'/>" }.joined() }
        #expect(try proposed("<l>\(records(4))</l>").first?.key == [])
        #expect(try proposed("<l>\(records(5))</l>").first?.key == ["t"])
    }

    // MARK: - The profile

    @Test func occurrencesInOneParent() throws {
        let root = try #require(try profile("<l><p><c/><c/><d/></p><p><c/></p><p><d/><c/><c/><c/></p></l>").root)
        let parent = try #require(root.children.first)
        #expect(parent.count == 3 && parent.maximum == 3)
        let (c, d) = (parent.children[0], parent.children[1])
        #expect(c.count == 6 && c.maximum == 3 && c.parents == 3)
        #expect(d.count == 2 && d.maximum == 1 && d.parents == 2)
    }

    @Test func valuesOfAttributesAndTexts() throws {
        let root = try #require(try profile("<l><e a=' x '>one</e><e a=''>three</e><e>one</e></l>").root)
        let element = try #require(root.children.first)
        #expect(element.text.count == 3 && element.text.filled == 3 && element.text.maximumLength == 5)
        #expect(element.text.example == "one" && !element.text.distinct.allDiffer)
        let attribute = try #require(element.attributes.first)
        #expect(attribute.value.count == 2 && attribute.value.filled == 1 && attribute.value.example == "x")
    }

    @Test func valuesBeyondTheLimitAreComparedWithTheFirst() {
        var values = DigestSet(isSample: true)
        let budget = DigestSet.Budget()
        for value in 0..<UInt64(DigestSet.sampleSize + 2) { values.insert(value, budget) }
        #expect(values.allDiffer)
        values.insert(5, budget)
        #expect(!values.allDiffer)
    }

    /// A document of many columns remembers fewer values of each.
    @Test func allColumnsShareABudget() {
        let budget = DigestSet.Budget(limit: 10)
        var (first, second) = (DigestSet(isSample: true), DigestSet(isSample: true))
        for value in 0..<UInt64(8) { first.insert(value, budget) }
        for value in 0..<UInt64(8) { second.insert(value, budget) }
        #expect(first.allDiffer && second.allDiffer && !budget.isLeft)
        // The eighth value of the second was not remembered, and the first one was.
        second.insert(7, budget)
        #expect(second.allDiffer)
        second.insert(0, budget)
        first.insert(0, budget)
        #expect(!first.allDiffer && !second.allDiffer && budget.isLeft)
        for _ in 0..<10 { budget.take() }
        #expect(!budget.isLeft)
    }

    /// Values within one element differ, or those of each of several.
    @Test(arguments: [
        (["a", "b"], ["c", "d"], true, true), (["a", "b"], ["a", "b"], false, true), (["a", "a"], ["c"], false, false),
        (["a", "b"], ["c", "c"], false, false), (["a", "b", "a"], [], false, false), (["a", "b"], [], true, true),
    ])
    func valuesOfSiblings(first: [String], second: [String], differ: Bool, differAmongSiblings: Bool) throws {
        let groups = [first, second].map { "<g>" + $0.map { "<e k='\($0)'/>" }.joined() + "</g>" }
        let root = try #require(try profile("<l>\(groups.joined())</l>").root)
        let value = try #require(root.children.first?.children.first?.attributes.first).value
        #expect(value.distinct.allDiffer == differ && value.differAmongSiblings == differAmongSiblings)
    }

    @Test func attributesThatAreDataEndTheDocument() throws {
        let attributes = (0..<1_900).map { " a\($0)='1'" }.joined()
        let document = { (count: Int) in "<r>" + (0..<count).map { "<e\($0)\(attributes)/>" }.joined() + "</r>" }
        #expect(throws: Never.self) { try profile(document(10)) }
        #expect(throws: InferenceError.self) { try profile(document(11)) }
        let deep = (0..<400).map { "<\(String(repeating: "n", count: 500))\($0)>" }
        let ends = deep.reversed().map { $0.replacing("<", with: "</") }
        #expect(throws: InferenceError.self) { try profile(deep.joined() + ends.joined()) }
    }

    @Test func namesThatAreDataEndTheDocument() throws {
        // Parsers accept 10,000 names, so the paths have to be made of fewer.
        let inner = (0..<200).map { "<b\($0)/>" }.joined()
        let document = "<r>" + (0..<101).map { "<a\($0)>\(inner)</a\($0)>" }.joined() + "</r>"
        #expect(throws: InferenceError.self) { try profile(document) }
    }
}
