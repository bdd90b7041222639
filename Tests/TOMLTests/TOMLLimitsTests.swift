import FeedConfiguration
import Testing

/// No document is too deep, and none takes more than its share of time.
@Suite struct TOMLLimitsTests {
    private func repeated(_ text: String, _ count: Int) -> String { String(repeating: text, count: count) }

    private func message(_ text: String) -> String? {
        do throws(TOMLError) {
            _ = try TOMLParser.parse(text)
            return nil
        } catch {
            return "\(error.finding)"
        }
    }

    /// Each is as deep as may be at 100 levels.
    @Test(arguments: ["array", "inline tables", "dotted key", "header", "arrays of tables", "all of them"])
    func depth(kind: String) throws {
        func document(_ depth: Int) -> String {
            switch kind {
            case "array": "a = " + repeated("[", depth) + repeated("]", depth)
            case "inline tables": "a = " + repeated("{a = ", depth) + "1" + repeated("}", depth)
            case "dotted key": repeated("a.", depth - 1) + "a = {}"
            case "header": "[" + repeated("a.", depth - 1) + "a]"
            // An array and its element are two levels each.
            case "arrays of tables":
                (1...depth / 2).map { "[[" + repeated("a.", $0 - 1) + "a]]\n" }.joined()
                    + (depth % 2 == 0 ? "" : "b = {}")
            default:
                "[" + repeated("a.", 49) + "a]\n" + repeated("a.", 24) + "a = " + repeated("[", depth - 74)
                    + repeated("]", depth - 74)
            }
        }
        #expect(message(document(100)) == nil)
        #expect(message(document(101))?.contains("100") == true)
        #expect(message(document(400))?.contains("100") == true)
    }

    @Test(arguments: [
        "[", "[[", "{", "a=[", "a={a=", "a.", "\"", "'", "\"\"\"", "'''", "\\", "#", "=", ",", "[]", "\r", "[a.", "0",
        "_", "-",
        "a=[[],", "x='''", "\u{301}",
    ])
    func whateverIsRepeated(text: String) {
        // A trap would end the test's process.
        for start in ["", "a = ", "a = \"", "a = \"\"\"", "[", "a = [", "a = {", "# "] {
            _ = message(start + repeated(text, 400))
        }
    }

    /// Each would take minutes if anything were quadratic.
    @Test(arguments: [
        ("a = \"", "\\n", "\""), ("a = \"\"\"", "\"\" \\\n ", "\"\"\""), ("a = [", "1,", "]"), ("a = [", "{},", "]"),
        ("", "[[a]]\n", ""), ("[[a]]\n", "[[a.b]]\n", ""), ("a = ", "9", ".0"), ("a = 0.", "1", ""),
        ("a = 0x", "0", "1"),
        ("a = 1", "_1", ".5"), ("", "#\n", ""), ("", "\r\n", ""), ("'e", "\u{301}\u{323}", "' = 1"),
    ])
    func longDocuments(start: String, middle: String, end: String) throws {
        _ = try TOMLParser.parse(start + repeated(middle, 60_000 / middle.utf8.count) + end)
    }

    @Test func manyKeys() throws {
        let keys = (0..<5_000).map { "k\($0)" }
        let flat = try TOMLParser.parse(keys.map { "\($0) = 1\n" }.joined())
        #expect(flat.keys == keys)
        let tables = try TOMLParser.parse(keys.map { "[\($0).x]\n" }.joined())
        #expect(tables.keys == keys)
        let inline = try TOMLParser.parse("a = {" + keys.map { "\($0) = 1" }.joined(separator: ", ") + "}")
        guard case .table(let table)? = inline["a"] else { return #expect(Bool(false)) }
        #expect(table.keys == keys)
    }

    /// Deterministic noise made of the pieces that TOML has a meaning for.
    @Test func noise() {
        let pieces =
            Array("[]{}=.,#\"'\\\n\r\t \0_-+0xinfa1e:TZ").map(String.init) + [
                "\"\"\"", "'''", "[[", "]]", "é", "1979-05-27",
            ]
        var state: UInt64 = 1
        func next(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        for _ in 0..<1_000 {
            var bytes = (0..<next(20)).flatMap { _ in Array(pieces[next(pieces.count)].utf8) }
            if next(4) == 0, !bytes.isEmpty { bytes[next(bytes.count)] = UInt8(next(256)) }
            _ = try? TOMLParser.parse(bytes)
        }
    }
}
