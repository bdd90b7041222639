import FeedConfiguration
import Testing

/// What a document says, value by value.
@Suite struct TOMLParserTests {
    private func value(_ text: String) throws -> TOMLValue {
        try #require(try TOMLParser.parse("x = " + text)["x"])
    }

    private func table(_ text: String, _ path: String...) throws -> TOMLTable {
        try path.reduce(TOMLParser.parse(text)) { table, key in
            switch table[key] {
            case .table(let inner): return inner
            case .array(let nodes):
                guard case .table(let last)? = nodes.last?.value else { throw NoTable(key: key) }
                return last
            default: throw NoTable(key: key)
            }
        }
    }

    private struct NoTable: Error { var key: String }

    @Test(arguments: [
        ("\"\"", ""), ("''", ""), ("\"a\\tb\\n\\\"\\\\\"", "a\tb\n\"\\"), ("\"\\u00e9\\U0001F600\"", "é😀"),
        ("'C:\\x'", "C:\\x"), ("\"\"\"\na\nb\"\"\"", "a\nb"), ("\"\"\"\r\na\r\nb\"\"\"", "a\nb"),
        ("\"\"\"a \\  \n\n  b\"\"\"", "a b"), ("\"\"\"a\\\r\n b\"\"\"", "ab"), ("\"\"\"\"\"a\"\"\"\"\"", "\"\"a\"\""),
        ("'''\n''a'''''", "''a''"), ("'''\\n'''", "\\n"), ("\"\"\"\"\"\"", ""), ("\"\\u0000\"", "\0"),
        ("\"\\x41\\xe9\\xFF\\e[0m\"", "Aéÿ\u{1B}[0m"), ("\"\"\"\\x00\\e\"\"\"", "\0\u{1B}"), ("'\\x41\\e'", "\\x41\\e"),
    ])
    func strings(text: String, string: String) throws {
        #expect(try value(text) == .string(string))
    }

    @Test(arguments: [
        ("0", 0), ("-0", 0), ("+99", 99), ("1_000", 1_000), ("0xDEAD_beef", 0xDEAD_BEEF), ("0o17", 15), ("0b1101", 13),
        ("0x0000000000000000000000001", 1), ("9223372036854775807", .max), ("-9223372036854775808", .min),
    ])
    func integers(text: String, integer: Int) throws {
        #expect(try value(text) == .integer(integer))
    }

    @Test(arguments: [
        ("1.0", 1), ("-0.5", -0.5), ("1e06", 1e6), ("6.626e-34", 6.626e-34),
        ("224_617.445_991_228", 224_617.445_991_228),
        ("inf", .infinity), ("+inf", .infinity), ("-inf", -.infinity), ("1e400", .infinity), ("0e0", 0),
    ])
    func floats(text: String, float: Double) throws {
        #expect(try value(text) == .float(float))
    }

    @Test func notANumber() throws {
        for text in ["nan", "+nan", "-nan"] {
            guard case .float(let number) = try value(text) else { return #expect(Bool(false), "\(text)") }
            #expect(number.isNaN)
        }
    }

    @Test(arguments: [
        "1979-05-27T07:32:00Z", "1979-05-27T00:32:00.999999-07:00", "1979-05-27 07:32:00z", "1979-05-27t07:32:00",
        "1979-05-27", "07:32:00", "00:32:00.5", "2020-02-29", "2000-02-29", "2016-12-31T23:59:60Z",
    ])
    func dates(text: String) throws {
        #expect(try value(text) == .date(text))
        // A comment does not become part of one.
        #expect(try value(text + " # 12:00") == .date(text))
    }

    @Test(arguments: [
        ("07:32", "07:32:00"), ("1979-05-27T07:32", "1979-05-27T07:32:00"),
        ("1979-05-27 07:32Z", "1979-05-27 07:32:00Z"), ("1979-05-27t07:32-07:00", "1979-05-27t07:32:00-07:00"),
    ])
    func secondsThatAreLeftOut(text: String, date: String) throws {
        #expect(try value(text) == .date(date))
    }

    @Test func tablesInBracesMayHaveLinesAndComments() throws {
        let text = "{ # one\r\n b = 1 # two }\n\n , # three\n c.d = [\n2,\n], e = {\n # none\n },\n # last\n }\ny = 3"
        guard case .table(let table) = try value(text) else { return #expect(Bool(false)) }
        #expect(table.keys == ["b", "c", "e"])
        #expect(table.entries.map(\.node.line) == [2, 5, 7])
        #expect(table["b"] == .integer(1) && table["e"] == .table(TOMLTable()))
        let end = try TOMLParser.parse("x = " + text).node("y")
        #expect(end == TOMLNode(.integer(3), line: 12))
        #expect(try value("{a = 1,}") == value("{a = 1}"))
    }

    @Test func arraysMayHaveLinesCommentsAndAnythingInThem() throws {
        let text = "[ # one\n 1, 'a'\r\n,[true] , { y.z = 2 },\n # last\n ]"
        guard case .array(let nodes) = try value(text) else { return #expect(Bool(false)) }
        #expect(nodes.map(\.line) == [2, 2, 3, 3])
        #expect(nodes[0].value == .integer(1) && nodes[1].value == .string("a"))
        guard case .table(let inline) = nodes[3].value, case .table(let inner)? = inline["y"] else {
            return #expect(Bool(false))
        }
        #expect(inner["z"] == .integer(2))
    }

    @Test func keysAndTheirOrderAndLines() throws {
        let text = """
            z = 1
            "a b" = { 'c' = 2 }
            d . "e" . 'f' = 3
            d.g = 4
            [x.y.z]
            [[list]]
            [x]
            [[list]]
            sub.k = 5
            [list.sub2]
            """
        let document = try TOMLParser.parse(text)
        #expect(document.keys == ["z", "a b", "d", "x", "list"])
        #expect(document.entries.map(\.node.line) == [1, 2, 3, 7, 6])
        #expect(try table(text, "d").keys == ["e", "g"])
        #expect(try table(text, "d").entries.map(\.node.line) == [3, 4])
        #expect(try table(text, "x", "y", "z").isEmpty)
        #expect(try table(text, "list").entries.map(\.key) == ["sub", "sub2"])
        #expect(try table(text, "list", "sub")["k"] == .integer(5))
        guard case .array(let elements)? = document["list"] else { return #expect(Bool(false)) }
        #expect(elements.map(\.line) == [6, 8])
    }

    @Test func tablesOfManyKeysFindEach() throws {
        let document = try TOMLParser.parse((0..<1_000).map { "k\($0) = \($0)\n" }.joined())
        #expect((0..<1_000).allSatisfy { document["k\($0)"] == .integer($0) } && document["k1000"] == nil)
    }

    @Test(arguments: [
        "", "\u{FEFF}", "# only this", "\r\n\t\r\n", "[a]\n[a.b]\n", "[a.b]\n[a]\nc = 1", "a.b = 1\n[a.c]",
        "[a]\nb.c = 1\n[a.b.d]", "[[a]]\nb = 1\n[[a]]\nb = 1\n[a.c]", "[[a.b]]\n[a]\nc = 1", "[a.b]\n[a]\nc.d = 1",
        "\"\" = 1", "1.2 = 1\n3 = 2", "true = 1", "[ a . \"b\" ] # c", "a = {} # c", "a = []",
    ])
    func areDocuments(text: String) throws {
        _ = try TOMLParser.parse(text)
    }
}
