import Testing

@testable import FeedInferring

/// Keys are keys of the whole document.
@Suite struct InferredKeyTests {
    private func proposal(_ document: String, limit: Int? = nil) throws -> String {
        try MappingProposal(of: document, url: "file:///d.xml", limit: limit).toml
    }

    @Test func aValueThatComesAgainAfterManyOthersIsNoKey() throws {
        let records = (0...DistinctValues.limit).map { "<e id='\($0)' v='x\($0)'/>" }.joined()
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

    @Test func daysWithAZoneAreDays() throws {
        let toml = try proposal("<l><e day='1960-01-01-05:00'/><e day='1964-07-17'/><e day='1964-07-18Z'/></l>")
        #expect(toml.contains("type = \"date\""), "\(toml)")
    }

    @Test func runningTextIsComparedToo() throws {
        func records(_ last: String) -> String {
            "<l><e><p>some <b>bold</b> text that goes on</p><c/></e><e><p>some <b>bold</b> text that goes \(last)</p></e></l>"
        }
        #expect(try proposal(records("off")).contains("no value is unique, but no two of the 2 records are equal"))
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
