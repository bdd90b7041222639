import Testing

@testable import FeedInferring

/// Keys are keys of the whole document.
@Suite struct InferredKeyTests {
    private func proposal(_ document: String, limit: Int? = nil) throws -> String {
        try MappingProposal(of: document, url: "file:///d.xml", limit: limit).toml
    }

    @Test func aValueThatComesAgainAfterManyOthersIsNoKey() throws {
        let records = (0...DigestSet.sampleSize).map { "<e id='\($0)' v='x\($0)'/>" }.joined()
        let unique = try proposal("<l>\(records)<e id='x' v='y'/></l>")
        #expect(unique.contains("# 100,002 records; id is unique in all 100,002 records.\n"), "\(unique)")
        let twice = "<e id='100000' v='y'/>"
        let again = try proposal("<l>\(records)\(twice)</l>")
        #expect(
            again.contains("# 100,002 records; v is unique in all 100,002 records, but is not named like a key.\n"),
            "\(again)")
    }

    @Test func moreValuesThanAreComparedAreNoKey() throws {
        let records = (0..<50).map { "<e id='\($0)'><c>\($0)</c><c>x</c></e>" }.joined()
        let toml = try proposal("<l>\(records)</l>", limit: 40)
        #expect(toml.contains("key = [\"position\"]") && toml.contains("because at most 4,000,000 values are compared"))
        #expect(try proposal("<l>\(records)</l>", limit: 60).contains("key = [\"id\"]"))
        // The values of one record make room for those of the next.
        let orders = (0..<50).map { order in
            "<o id='\(order)'>" + (0..<20).map { "<p sku='\($0)'/>" }.joined() + "</o>"
        }.joined()
        #expect(try proposal("<l>\(orders)</l>", limit: 80).contains("key = [\"o_id\", \"sku\"]"))
    }

    /// What a mapping reads as one value is one, however it is written.
    @Test(arguments: [
        ["12.500", "12500", "13.000"], ["1.234,5", "1.234,50", "7,1"], ["1/2/2026", "01/02/2026", "13/02/2026"],
    ])
    func valuesThatAreWrittenInSeveralWays(values: [String]) throws {
        let records = values.map { "<e id='\($0)' price='1.234,95' day='25/12/2026'/>" }.joined()
        let toml = try proposal("<l>\(records)</l>")
        #expect(!toml.contains("key = [\"id\"]") && !toml.contains("no two of"), "\(toml)")
    }

    /// Records of a short table: the first line has the columns' names.
    private func key(_ lines: String...) throws -> String? {
        let names = lines[0].split(separator: ";")
        let records = lines.dropFirst().map { line in
            let values = line.split(separator: ";", omittingEmptySubsequences: false)
            return "<row>" + zip(names, values).map { "<\($0)>\($1)</\($0)>" }.joined() + "</row>"
        }
        let toml = try proposal("<rows>\(records.joined())</rows>")
        return toml.split(separator: "\n").first { $0.hasPrefix("key = [") }.map { String($0.dropFirst(6)) }
    }

    @Test func theNumberOfAnArticleComesBeforeItsName() throws {
        #expect(try key("name;artnr;preis", "Kanne;A1;16,95", "Vase;A2;24,95") == #"["artnr"]"#)
        #expect(try key("name;preis;Artikelnummer", "Kanne;1;7", "Vase;2;8") == #"["artikelnummer"]"#)
        #expect(try key("name;Art.-Nr;url", "Kanne;7;http://a/7", "Vase;8;http://a/8") == #"["art_nr"]"#)
        #expect(
            try key("url;ean;item_no", "http://a/7;4006381333931;7", "http://a/8;4006381333948;8") == #"["item_no"]"#)
        #expect(try key("nom;prix;numero_article", "Cruche;1;7", "Vase;2;8") == #"["numero_article"]"#)
        #expect(try key("nombre;codigoArticulo", "Jarra;7", "Florero;8") == #"["codigo_articulo"]"#)
        #expect(try key("naam;productcode", "Kan;7", "Vaas;8") == #"["productcode"]"#)
        #expect(try key("name;sku;ean", "Jug;J-1;4006381333931", "Vase;V-2;4006381333948") == #"["sku"]"#)
        #expect(try key("name;nr", "Jug;1", "Vase;2") == #"["nr"]"#)
        #expect(try key("name;batch_no", "Jug;1", "Vase;2") == #"["batch_no"]"#)
        // A number that comes twice is no key.
        #expect(try key("name;artnr", "Jug;1", "Vase;1") == #"["name"]"#)
    }

    @Test func pricesDatesAndDescriptionsAreNoKeysBesideOtherValues() throws {
        #expect(try key("price;name", "16;Jug", "24;Vase") == #"["name"]"#)
        #expect(try key("date;name", "2026-01-01;Jug", "2026-01-02;Vase") == #"["name"]"#)
        #expect(try key("date;rate", "2026-01-01;1.25", "2026-01-02;1.5") == #"["date"]"#)
        #expect(try key("name;currency", "Czech koruna;CZK", "Swiss franc;CHF") == #"["currency"]"#)
        #expect(try key("name", "Czech koruna", "Swiss franc") == #"["name"]"#)
        let many = (0..<60).map { "\($0) EUR;the \($0)th pot;P\($0)" }
        let toml = try proposal(
            "<l>"
                + many.map { line in
                    let values = line.split(separator: ";")
                    return "<e><price>\(values[0])</price><text>\(values[1])</text><pot>\(values[2])</pot></e>"
                }.joined() + "</l>")
        #expect(toml.contains("key = [\"pot\"]"), "\(toml)")
    }

    @Test func positionsWithinARecordAreMirrored() throws {
        let toml = try proposal("<l><e id='1'><c>x</c><c>x</c></e><e id='2'><c>x</c></e></l>")
        #expect(toml.contains("key = [\"e_id\", \"position\"]\nsync = \"mirror\"\nwithin = \"e_id\"\n"), "\(toml)")
    }

    // MARK: - Records within others

    @Test func aSingleChildShowsNoKeyOfChildren() throws {
        let single = "<l><o id='1'><x><p sku='a'/></x></o><o id='2'><x><p sku='b'/></x></o></l>"
        #expect(!(try proposal(single)).contains("table = \"p\""))
        // Elsewhere they repeat, so that they are a table.
        let elsewhere =
            "<l><o id='1'><p sku='a'/></o><o id='2'><p sku='b'/></o><o id='3'><p sku='a'/><p sku='b'/></o></l>"
        let shown = try proposal(elsewhere)
        #expect(shown.contains("key = [\"o_id\", \"sku\"]\nsync = \"mirror\"\nwithin = \"o_id\"\n"), "\(shown)")
        // A label needs more of them.
        let labels = try proposal(elsewhere.replacing("sku", with: "name"))
        #expect(labels.contains("key = [\"o_id\", \"position\"]"), "\(labels)")
        #expect(labels.contains("because too few of them have several to show another key"), "\(labels)")
    }

    @Test func aCodeOfRecordsWithinOthersIsNoKeyOfTheDocument() throws {
        let toml = try proposal(
            "<l><o id='1'><p sku='a'><t/><t>x</t></p></o><o id='2'><p sku='b'><t>x</t></p><p sku='c'/></o></l>")
        #expect(toml.contains("key = [\"o_id\", \"sku\"]"), "\(toml)")
        let own = try proposal(
            "<l><o id='1'><p id='a'><t/><t>x</t></p></o><o id='2'><p id='b'><t>x</t></p><p id='c'/></o></l>")
        #expect(own.contains("key = [\"id\"]\nsync = \"mirror\"\nwithin = \"o_id\"\n"), "\(own)")
    }

    @Test func aValueThatIsTooLongForAKeyIsNamed() throws {
        let long = String(repeating: "x", count: 5_000)
        let toml = try proposal("<l><e id='\(long)' v='1'/><e id='b' v='1'/></l>")
        #expect(
            toml.contains("no value that may be a key is unique (id: longer than 255 bytes), but no two of the"),
            "\(toml)")
    }

    @Test func timesWithoutAnOffsetSaySo() throws {
        let note = "without an offset: read as UTC, or in the time_zone of the column or source"
        func line(_ value: String) throws -> Substring? {
            try proposal("<l><e id='1' at='\(value)'/><e id='2' at='\(value)'/></l>").split(separator: "\n").first {
                $0.hasPrefix("at ")
            }
        }
        for value in ["2026-11-24T10:00:00", "2026-11-24 10:00", "Tue, 24 Nov 2026 10:00:00"] {
            #expect(try line(value)?.hasSuffix("  # " + note) ?? false, "\(value)")
        }
        #expect(try line("24.11.2026 10:00")?.hasSuffix("  # as in 24.11.2026 10:00; " + note) ?? false)
        for value in ["2026-11-24T10:00:00Z", "2026-11-24T10:00+01:00", "2026-11-24"] {
            #expect(try line(value)?.contains("#") == false, "\(value)")
        }
    }

    @Test func whatNoTableHasIsNamed() throws {
        let toml = try proposal("<l version='1'><head><by>me</by></head><e id='1'/><e id='2'/><flag/><flag/></l>")
        #expect(toml.contains("# Not mapped: l/@version, l/head/by, l/flag.\n"), "\(toml)")
        #expect(!(try proposal("<l><e id='1'/><e id='2'/></l>")).contains("Not mapped"))
    }

    @Test func aSchemaIsNoDocument() throws {
        #expect {
            try proposal("<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema'><xs:element name='a'/></xs:schema>")
        } throws: {
            "\($0)".contains("`tributary infer --xsd FILE`")
        }
    }

    @Test func daysWithAZoneAreDays() throws {
        let toml = try proposal("<l><e day='1960-01-01-05:00'/><e day='1964-07-17'/><e day='1964-07-18Z'/></l>")
        #expect(toml.contains("type = \"date\""), "\(toml)")
    }

    @Test func runningTextIsComparedToo() throws {
        func records(_ last: String) -> String {
            "<l><e><p>some <b>bold</b> text that goes on</p><c/></e><e><p>some <b>bold</b> text that goes \(last)</p></e></l>"
        }
        #expect(
            try proposal(records("off")).contains("no key: no value that may be a key is unique, but no two of the"))
        #expect(try proposal(records("on")).contains("key = [\"position\"]"))
        #expect(try proposal(records(" o<i>n</i>")).contains("key = [\"position\"]"))
    }

    @Test func digestsOfPartsOfATextAreThoseOfTheParts() {
        var whole = RollingDigest()
        whole.append("before".utf8)
        let start = whole
        whole.append("a b".utf8)
        whole.append("c".utf8)
        var part = RollingDigest()
        part.append("abc".utf8)
        #expect(whole.digest(since: start) == part.digest(since: RollingDigest()))
        #expect(whole.digest(since: start) != start.digest(since: RollingDigest()))
    }

    @Test(arguments: [(0, "0"), (999, "999"), (1000, "1,000"), (7_028, "7,028"), (1_234_567, "1,234,567")])
    func thousands(number: Int, text: String) { #expect(number.grouped == text) }
}
