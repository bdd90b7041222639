import FeedModel
import GRDBSQLite
import Testing

@testable import FeedParsing

/// The functions that expressions have, and what SQLite's own must not do.
@Suite struct ExpressionFunctionTests {
    /// Returns the value of an expression without columns, as text; "!" and the message where it fails.
    private func value(_ sql: String) -> String {
        let database = ExpressionDatabase()
        do throws(ExpressionFault) {
            let statement = try database.prepare("SELECT \(sql)")
            defer { sqlite3_finalize(statement) }
            guard sqlite3_step(statement) == SQLITE_ROW else { return "!" + database.message }
            return sqlite3_column_text(statement, 0).map { String(cString: $0) } ?? "NULL"
        } catch {
            return "!" + error.message
        }
    }

    @Test func lettersOfAllLanguagesHaveTwoCases() {
        #expect(value("lower('ÄÖÜ É ΣΑΣ ИЖ')") == "äöü é σασ иж")
        #expect(value("upper('straße éµ')") == "STRASSE ÉΜ")
        #expect(value("lower('ABC-z[1]')") == "abc-z[1]")
        #expect(value("upper('abc-Z{1}')") == "ABC-Z{1}")
        #expect(value("casefold('Straße') = casefold('STRASSE')") == "1")
        #expect(value("casefold('ΌΔΟΣ') = casefold('όδος')") == "1")
        #expect(value("lower(12)") == "12")
        #expect(value("lower('')") == "")
    }

    @Test func partsAreCountedFromBothEnds() {
        #expect(value("split_part('Ada,King,Lovelace', ',', 1)") == "Ada")
        #expect(value("split_part('Ada,King,Lovelace', ',', 3)") == "Lovelace")
        #expect(value("split_part('Ada,King,Lovelace', ',', 4)") == "")
        #expect(value("split_part('Ada,King,Lovelace', ',', -1)") == "Lovelace")
        #expect(value("split_part('Ada,King,Lovelace', ',', -4)") == "")
        #expect(value("split_part('a::b::', '::', 3)") == "")
        #expect(value("split_part('aaaa', 'aa', 2)") == "")
        #expect(value("split_part('Grüße – von – mir', ' – ', 2)") == "von")
        #expect(value("split_part('abc', '', 1)") == "abc")
        #expect(value("split_part('', ',', 1)") == "")
        #expect(value("split_part('a', ',', 0)").contains("counts the parts from 1"))
        #expect(value("split_part('a', ',', 'x')").contains("'x' is neither"))
    }

    @Test func patternsAreFoundAndReplaced() {
        #expect(value("regexp_replace('a  b   c', '\\s+', ' ')") == "a b c")
        #expect(value("regexp_replace('2026-11-22', '(\\d+)-(\\d+)-(\\d+)', '$3.$2.$1')") == "22.11.2026")
        #expect(value("regexp_replace('abc', 'x*', '-')") == "-a-b-c-")
        #expect(value("regexp_replace('äöü', '', '.')") == ".ä.ö.ü.")
        #expect(value("regexp_replace('1,50 €', '[^0-9,]', '')") == "1,50")
        #expect(value("regexp_replace('<b>x</b>', '<.*?>', '')") == "x")
        #expect(value("regexp_replace('<b>x</b>', '<.*>', '')") == "")
        #expect(value("regexp_replace('cat, CAT', '(?i)cat', 'dog')") == "dog, dog")
        #expect(value("regexp_replace('foobar', 'o{2}|ba', '<$0>')") == "f<oo><ba>r")
        #expect(value("regexp_replace('price', '^(pr)(x)?ice$', '[$1$2]')") == "[pr]")
        #expect(value("regexp_replace('a.b', '\\.', '$$')") == "a$b")
        #expect(value("regexp_replace('Ünder öber', '\\b(\\w)', '<\\1>')") == "<Ü>nder <ö>ber")
        #expect(value("'item-42' REGEXP '^[a-z]+-\\d+$'") == "1")
        #expect(value("'item-x' REGEXP '^[a-z]+-\\d+$'") == "0")
        #expect(value("'x' REGEXP '(?i)[^a-w]'") == "1")
        #expect(value("'a' || char(10) || 'b' REGEXP 'a.b'") == "0")
        #expect(value("('a' || char(10) || 'b') REGEXP '(?s)a.b'") == "1")
        #expect(value("('a' || char(10) || 'b') REGEXP '(?m)^b$'") == "1")
        #expect(value("regexp_replace('aaa', 'a{2,}?', 'x')") == "xa")
        #expect(value("regexp_replace('ab', 'x(?i)A|B', '-')") == "a-")
    }

    @Test func wrongPatternsSayWhatIsWrong() {
        for (pattern, expected) in [
            ("(", "'(' without ')'"), (")", "')' without '('"), ("[a", "'[' without ']'"), ("*", "nothing to repeat"),
            ("(a)\\1", "refers to a group"), ("(?=a)", "is not known here"), ("a{3,2}", "from the smaller"),
            ("a{x}", "is not a count"), ("\\q", "'\\q' is not known"), ("((a{1000}){1000}){9}", "too large"),
            ("a**", "'*' repeats what is repeated already"), ("a{2}{2}", "'{' repeats what is repeated already"),
            ("a+?+", "'+' repeats what is repeated already"), ("(?:){1000}{1000}{1000}{1000}", "repeats what is"),
        ] {
            let found = value("regexp_replace('a', '\(pattern)', '')")
            #expect(found.hasPrefix("!") && found.contains(expected), "\(pattern): \(found)")
        }
        #expect(value("regexp_replace('a', 'a', '$1')").contains("names group 1, and the pattern has 0"))
        #expect(value("'a' REGEXP NULL") == "NULL")
    }

    /// Returns what a replacement gives, or the message of its error.
    private func replaced(_ text: String, _ pattern: String, _ with: String, steps: Int = PatternSearch.stepLimit)
        throws -> String?
    {
        let program = try PatternProgram(pattern)
        do throws(PatternError) {
            return try Array(with.utf8).withUnsafeBufferPointer { (template) throws(PatternError) in
                let replacement = try PatternReplacement(template, groups: program.groups)
                return try Array(text.utf8).withUnsafeBufferPointer { (text) throws(PatternError) in
                    try replacement.replace(in: text, program, stepLimit: steps)
                }
            }.map { String(decoding: $0, as: UTF8.self) }
        } catch {
            return "!\(error.finding)"
        }
    }

    /// Engines that go back take ages for these: their steps double with each further character.
    @Test(arguments: ["(a+)+$", "(a|aa)+$", "(a|a)*b", "(.*)*c", "(a*)*(a*)*x", "^(([a-z])+.)+[A-Z]([a-z])+$"])
    func aSearchTakesSoManyStepsForEachCharacter(pattern: String) throws {
        let most = 2 * (try PatternProgram(pattern).instructions.count)
        for count in [20, 200, 20_000] {
            let text = String(repeating: "a", count: count) + "!"
            #expect(try replaced(text, pattern, "", steps: most * (count + 2)) == nil, "\(count)")
        }
    }

    /// The parts of a result are limited before they are put together.
    @Test func theResultIsNoLongerThanAValueMayBe() throws {
        let copies = String(repeating: "$1", count: 28)
        let text = String(repeating: "a", count: 700_000)
        for pattern in ["(a*)", "(a{3})", "([^,]*)"] {
            #expect(try replaced(text, pattern, copies) == "!the result is longer than 16777216 bytes", "\(pattern)")
        }
        // What is put in for an empty match counts, too.
        let parts = try replaced(text, "(x*)", String(repeating: "$1", count: 500), steps: 1_000_000)
        #expect(parts?.contains("more than 1000000 steps") == true)
        #expect(try replaced(String(text.prefix(500_000)), "(.*)", copies)?.utf8.count == 14_000_000)
    }

    /// Ways that come first count first, as in engines that go back.
    @Test func whatMatchesIsWhatAnEngineThatGoesBackFinds() throws {
        for (pattern, text, expected) in [
            ("(a|ab)(c|bcd)(d*)", "abcd", "[a,bcd,]"), ("(a+?)(a*)", "aaa", "[a,aa,]"),
            ("(a*?)(b|$)", "aab", "[aa,b,][,,]"),
            ("(a|b)*?(b)", "aab", "[a,b,]"), ("(?:(a)|b)*(c)", "abc", "[a,c,]"), ("(a?)(a?)(a)", "a", "[,,a]"),
            ("(ä|.)(\\w)(x?)", "äöx", "[ä,ö,x]"), ("()(a*)()", "aa", "[,aa,][,,]"),
        ] {
            let template = pattern.count { $0 == "(" } == 3 && !pattern.contains("(?") ? "[$1,$2,$3]" : "[$1,$2,]"
            #expect(try replaced(text, pattern, template) == expected, "\(pattern)")
        }
    }

    /// A count of nothing makes nothing, however often: written out, these would be 125 million parts.
    @Test func noPatternTakesForEverToCompile() {
        for (pattern, expected) in [
            ("(?:(?:(?:){500}){500}){500}a", "-b"), ("(?:(?:(?:(?i)|b{0}){500}){500}){0}a", "-b"),
            ("(?:(?:(?:(?:a{0}){500}){500}){500})*a", "-b"), ("(?:a{1}){1}-", "ab"),
        ] {
            #expect(value("regexp_replace('aa-b', '\(pattern)', '')") == expected, "\(pattern)")
        }
        let long = value("regexp_replace('a', printf('%.20000c', 'a'), '')")
        #expect(long.contains("at most 16384 bytes"), "\(long.prefix(300))")
        let deep = String(repeating: "(", count: 101) + String(repeating: ")", count: 101)
        #expect(value("regexp_replace('a', '\(deep)', '')").contains("nested too deeply"))
    }

    /// The time for a set does not grow with what is in it.
    @Test func setsOfManyCharactersAreSearchedQuickly() {
        let members = (0..<4_000).map { String(Unicode.Scalar(0x4E00 + 2 * $0)!) }.joined()
        let found = value("length(regexp_replace(printf('%.100000c', '七'), '[\(members)]', ''))")
        #expect(found == "100000")
    }

    /// Both may come from the feed: their time grows with the product of their lengths.
    @Test func whatIsSearchedForIsShort() {
        let long = "printf('%.1001c', 'b')"
        for call in [
            "split_part('a', \(long), 1)", "replace('a', \(long), '')", "instr('a', \(long))", "trim('a', \(long))",
            "ltrim('a', \(long))", "rtrim('a', \(long))",
        ] {
            let found = value(call)
            #expect(found.contains("takes at most 1000 bytes to search for, and not 1001"), "\(call): \(found)")
        }
        #expect(value("replace('äbä', 'ä', 'oe')") == "oeboe")
        #expect(value("replace('abc', '', 'x')") == "abc")
        #expect(value("instr('öäb', 'b')") == "3")
        #expect(value("instr(x'00ff', x'ff')") == "2")
        #expect(value("trim('  a ')") == "a")
        #expect(value("trim('äxaxä', 'äx')") == "a")
        #expect(value("ltrim('--a-', '-') || rtrim('-a--', '-')") == "a--a")
        for call in ["replace(NULL, 'a', 'b')", "instr('a', NULL)", "trim('a', NULL)", "trim(NULL)"] {
            #expect(value(call) == "NULL", "\(call)")
        }
    }

    @Test func partsOfALongTextAreFound() {
        let text = "printf('%.4000000c', ',')"
        for (part, expected) in [("-1", ""), ("4000001", ""), ("-4000001", ""), ("5", "")] {
            #expect(value("split_part(\(text) , ',', \(part))") == expected)
        }
        #expect(value("split_part('x' || \(text) || 'y', ',', -1)") == "y")
        #expect(value("split_part('x' || \(text) || 'y', ',', -4000001)") == "x")
        #expect(value("split_part('x' || \(text) || 'y', ',', 4000001)") == "y")
        #expect(value("split_part('a-+-b-+-c', '-+-', -2)") == "b")
    }

    /// Each match leads to the end of the text and back: the square of its length.
    @Test func aSearchThatTakesTooLongIsGivenUp() throws {
        let program = try PatternProgram("a.*b|a")
        let error = #expect(throws: PatternError.self) {
            try Array(repeating: UInt8(ascii: "a"), count: 1000).withUnsafeBufferPointer { text throws(PatternError) in
                _ = try PatternReplacement(text, groups: 0).replace(in: text, program, stepLimit: 100_000)
            }
        }
        #expect(error?.finding.text == "the search takes more than 100000 steps in a text of 1000 bytes")
    }

    @Test func digestsAreHexadecimal() {
        #expect(
            value("sha256('abc')") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(value("sha256('')").hasPrefix("e3b0c442"))
    }

    @Test func nothingInNothingOut() {
        for call in [
            "lower(NULL)", "upper(NULL)", "casefold(NULL)", "split_part(NULL, ',', 1)", "split_part('a', NULL, 1)",
            "split_part('a', ',', NULL)", "regexp_replace(NULL, 'a', '')", "regexp_replace('a', NULL, '')",
            "regexp_replace('a', 'a', NULL)", "sha256(NULL)", "date(NULL)", "NULL REGEXP 'a'",
        ] {
            #expect(value(call) == "NULL", "\(call)")
        }
    }

    @Test func timesAreThoseOfTheFeed() {
        #expect(value("date('2026-11-22', '+10 days')") == "2026-12-02")
        #expect(value("strftime('%Y', '2026-11-22')") == "2026")
        #expect(value("datetime(0, 'unixepoch')") == "1970-01-01 00:00:00")
        #expect(value("julianday('2000-01-01')") == "2451544.5")
        for call in [
            "date('now')", "date()", "datetime('NOW')", "strftime('%s')", "strftime('%s', 'now')", "julianday('now')",
        ] {
            #expect(value(call).contains("the present"), "\(call)")
        }
        #expect(value("datetime('2026-11-22', 'localtime')").contains("time zone"))
    }

    /// What this SQLite does not have must not pass the check to fail at each run, as `timediff` before 3.43.
    @Test func functionsAreThoseThatSQLiteHas() {
        let bare = NativeFunctions()
        for name in TimeFunctions.names + SearchFunctions.all.map(\.0) {
            let found = ExpressionDatabase().check("\(name)(a, a)", among: ["a"]).faults.map(\.message)
            let isUnknown = found.contains { $0.contains("SQLite has no function '\(name)'") }
            #expect(isUnknown == !bare.names.contains(name), "\(name): \(found)")
        }
        #expect(bare.names.isSuperset(of: ["date", "strftime", "replace", "instr"]))
    }
}
