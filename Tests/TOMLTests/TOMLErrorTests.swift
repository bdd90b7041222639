import FeedConfiguration
import Testing

/// What is not TOML, and where the error says so.
@Suite struct TOMLErrorTests {
    private func error(_ bytes: [UInt8]) -> TOMLError? {
        do throws(TOMLError) {
            _ = try TOMLParser.parse(bytes)
            return nil
        } catch {
            return error
        }
    }

    private func error(_ text: String) -> TOMLError? { error(Array(text.utf8)) }

    @Test(arguments: [
        ("a = 1\n[#x]", 2, 2), ("[.]", 1, 2), ("[[", 1, 3), ("a=[}", 1, 4), ("[", 1, 2), ("[a", 1, 3), ("[a]b", 1, 4),
        ("[a] ]", 1, 5), ("[[a] ]", 1, 5), ("[a.]", 1, 4), ("a", 1, 2), ("a =", 1, 4), ("a = \n1", 1, 5), ("= 1", 1, 1),
        ("é = 1", 1, 1), ("a = 1 b", 1, 7), ("a.b. = 1", 1, 6), ("a = é", 1, 5), ("k = 'é' x", 1, 9),
        ("a = [1, 2\nb = 3", 2, 1), ("a = [\n1\n\n", 1, 5), ("a = [,]", 1, 6), ("a = [1,,2]", 1, 8), ("a = {", 1, 5),
        ("a = {b = 1,,}", 1, 12), ("a = {\nb = 1\nc = 2}", 3, 1), ("a = {b = 1\n", 1, 5), ("a = {b}", 1, 7),
        ("a = {,}", 1, 6), ("a = {\nb\n= 1}", 2, 2), ("a = {b =\n1}", 1, 9), ("a = {b = 1, # }", 1, 5),
        ("a = {\n  b = 1,\n\n[c]", 4, 1), ("a = {\n# , \n,}", 3, 1),
    ])
    func structure(text: String, line: Int, column: Int) throws {
        let found = try #require(error(text), "\(text)")
        #expect(found.line == line && found.column == column, "\(found)")
    }

    @Test(arguments: [
        "\"abc", "'abc", "\"\"\"abc\"\"", "'''abc", "\"a\nb\"", "\"\\q\"", "\"\\", "\"\\u12\"", "\"\\uD800\"",
        "\"\\U00110000\"",
        "\"\\U0001\"", "\"\"\"\\ a\"\"\"", "\"\"\"\"\"\"\"\"\"", "\"a\"b\"", "\"\\x4\"",
        "\"\\xg1\"", "\"\\X41\"", "\"\\E\"",
    ])
    func strings(text: String) throws {
        #expect(try #require(error("a = 1\nx = " + text)).line == 2)
    }

    @Test(arguments: [
        "9223372036854775808", "-9223372036854775809", "0xFFFFFFFFFFFFFFFF", "99999999999999999999999999", "01", "-01",
        "+-1",
        "1_", "_1", "1__0", "0x", "0x_1", "0_x1", "0b2", "0o8", "-0x1", "0X1", "1.", ".1", "1.e5", "1e", "1e+", "1_.0",
        "1._0",
        "1e_5", "++inf", "Inf", "infinity", "True", "truee", "yes", "1.0.0", "0x1.5", "1 2",
    ])
    func numbers(text: String) throws {
        #expect(try #require(error("x = " + text)).line == 1)
    }

    @Test(arguments: [
        "2021-02-29", "1900-02-29", "2021-13-01", "2021-00-01", "2021-04-31", "2021-01-00", "2021-1-1", "2021-01-01T",
        "24:00:00",
        "12:60:00", "12:00:61", "12:0", "12:00:", "12:00.5", "12:00Z", "24:00", "12:60", "2021-01-01T12",
        "2021-01-01T12:00.5Z", "12:00:00.", "12:00:00Z", "2021-01-01T12:00:00+24:00",
        "2021-01-01T12:00:00+1:00",
        "2021-01-01T12:00:00ZZ", "2021-01-01  12:00:00", "12021-01-01",
    ])
    func dates(text: String) throws {
        #expect(try #require(error("x = " + text)).line == 1)
    }

    @Test(arguments: [
        "a = 1\na = 2", "a = 1\n'a' = 2", "[a]\n[a]", "[a]\n[[a]]", "[[a]]\n[a]", "a = []\n[[a]]", "a = [{}]\n[[a]]",
        "a = {}\n[a.b]", "a = {}\na.b = 1", "a = {b = {}}\n[a.b]", "a = {b = {}, b.c = 1}", "a = {b = 1, b = 2}",
        "a.b = 1\n[a]", "a.b = 1\na = 2", "a = 1\na.b = 2", "a = 1\n[a.b]", "[a]\nb.c = 1\n[a.b]", "[a]\nb = 1\n[a.b]",
        "[a.b.c]\nz = 9\n[a]\nb.c.t = 1", "[a.b]\n[a]\nb.c = 1", "[[a.b]]\n[a]\nb.c = 1", "[a.b]\n[a]\nb = 1",
        "[[a]]\n[a.b]\n[a.b]", "a = [{b = 1}]\n[a.c]", "a.b.c = 1\na.b = 2", "[a]\n[a.b]\n[a]",
        "'e\u{301}' = 1\n'\u{E9}' = 2",
    ])
    func whatIsThereAlready(text: String) throws {
        let found = try #require(error(text), "\(text)")
        #expect(found.line == text.split(separator: "\n").count, "\(found)")
    }

    @Test func whereElseTheKeyIs() throws {
        let table = try #require(error("[a]\nb = 1\n\n[a]"))
        #expect(
            "\(table)"
                == "line 4, column 2: the table 'a' is already defined, on line 1; rename one, or put the keys of "
                + "both under one header")
        let key = try #require(error("a = 1\nb = 2\na = 3")).finding
        #expect("\(key)" == "the key 'a' is already defined, on line 1; remove one of the two")
    }

    @Test(arguments: [
        (Array("a = 1\n\0b = 2".utf8), 2, 1), (Array("a = 'b\0'".utf8), 1, 7), (Array("# \u{1}".utf8), 1, 3),
        (Array("a = 1\n# \u{7F}".utf8), 2, 3), (Array("a = '\u{1F}'".utf8), 1, 6), (Array("a = 1\rb = 2".utf8), 1, 6),
        (Array("a = \"\"\"\r\"\"\"".utf8), 1, 8), (Array("a = 1\n\n# ".utf8) + [0xFF], 3, 3),
        (Array("a = '".utf8) + [0xED, 0xA0, 0x80] + Array("'".utf8), 1, 6), ([0xC3], 1, 1), ([0xC0, 0x80], 1, 1),
        ([0xF4, 0x90, 0x80, 0x80], 1, 1), ([0xE0, 0x80, 0x80], 1, 1), ([0xFF, 0xFE, 0x61, 0x00], 1, 1),
        ([0xEF, 0xBB, 0xBF, 0xEF, 0xBB, 0xBF], 1, 1), (Array("a\u{FEFF} = 1".utf8), 1, 2),
    ])
    func bytesThatAreNotText(bytes: [UInt8], line: Int, column: Int) throws {
        let found = try #require(error(bytes))
        #expect(found.line == line && found.column == column, "\(found)")
    }
}
