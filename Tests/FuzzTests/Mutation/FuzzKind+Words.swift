extension FuzzKind {
    /// Numbers at the edges of what types hold.
    static let numbers = [
        "0", "-0", "1", "-1", "00", "007", "127", "128", "255", "256", "65535", "65536", "2147483647", "2147483648",
        "4294967296", "9007199254740993", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
        "18446744073709551616", "1e18", "1e19", "1e308", "1e309", "-1e309", "1e-400", "0.1", ".5", "5.",
        "99999999999999999999999999999999999999999",
    ]

    private static let dateFields = [
        "%Y", "%y", "%m", "%b", "%B", "%d", "%H", "%I", "%M", "%S", "%f", "%p", "%A", "%a",
    ]

    /// What the formats of a kind of input are made of.
    var words: [String] {
        switch self {
        case .columns, .rows, .tables, .commit, .parsers, .infer:
            Self.markup + Self.vocabulary + Self.numbers
        case .json:
            [
                "{", "}", "[", "]", "\"", ":", ",", "null", "true", "false", "\\u0000", "\\ud83d", "\\ude00", "\\uffff",
                "\\\"", "\\\\", "\\", "\"a\":", "\"\":", "\"area_m²\":", "{}", "[]", "[[", "\u{FEFF}", "é", "\u{301}",
                "\"\u{301}\":", "\"xml:x\":", "\"a b\":", "\u{1F600}", " ", "\n",
            ] + Self.numbers
        case .html: Self.markup + Self.pages
        case .protobuf:
            [
                "\u{A}\u{5}\u{A}\u{3}2.0", "\u{12}\u{0}", "\u{12}\u{4}\"\u{2}(\u{1}", "\u{13}\u{14}", "\u{B}", "\u{C}",
                "\u{7F}",
                "\u{0}", "\u{8}\u{1}", "\u{D}\u{0}\u{0}\u{0}\u{0}", "é",
            ]
        case .archive:
            ["PK\u{3}\u{4}", "PK\u{1}\u{2}", "PK\u{5}\u{6}", "PK\u{7}\u{8}", "PK\u{6}\u{6}", "\u{0}\u{0}\u{0}\u{0}"]
        case .dates:
            Self.dateFields + [
                "%z", "%s", "%e", "%h", "%F", "%T", "%%", "yyyy", "yy", "MM", "MMM", "MMMM", "dd", "HH", "mm", "ss",
                "SSS", "a", "EEE", "Z", "XXX", "'T'", "''", "T", "Z", "+00:00", "-12:59", "+2400", "GMT", "UTC", "EST",
                "Jan", "February", "Sat, ", "Sunday", "24:00:00", "23:59:60", "0000", "9999", "-0001", "am", "PM", "\n",
                "٣", "é", "İ",
            ] + Self.numbers
        case .values:
            [
                "true", "False", "yes", "NO", "INF", "-INF", "NaN", "nan", "infinity", "0x10", "+", "-", ".", "e", "E+",
                "AAAA", "AA==", "=", "é", "٣", "½", "\u{0}", " ", "\n", "_", ",",
            ] + Self.numbers
        case .toml:
            Self.tomlWords + Self.numbers
        case .urls:
            [
                "http://", "https://", "HTTP:", "file:///", "//", "///", "/", "?", "#", "@", ":", "user:secret@",
                "[::1]",
                "[::ffff:127.0.0.1]", "127.0.0.1", "0.0.0.0", "2130706433", "0x7f.1", ":0", ":80", ":65535", ":65536",
                ":99999999999999999999", ":-1", ":٣", "..", "/../..", "%2e%2e", "%00", "%", "%zz", "\\", "é.test",
                "xn--a", "feeds.test", " ", "\t", "\r", "\n", "\u{0}", "?page=2", "&a=b", "[", "]", "javascript:", "",
            ]
        case .heads:
            [
                "200\n", "304\n", "410\n", "429\n", "503\n", "000\n", "099\n", "1000\n", "-1\n", "Cache-Control: ",
                "max-age=", "no-cache", "no-store", "s-maxage=", "Age: ", "Expires: ", "Date: ", "Retry-After: ",
                "ETag: ",
                "Last-Modified: ", "Content-Type: ", "text/xml; charset=", "application/json", "Content-Encoding: ",
                "gzip", "deflate", "identity", "Sat, 21 Nov 2026 01:00:00 GMT", "Fri, 31 Dec 9999 23:59:59 GMT",
                "Thu, 01 Jan 1970 00:00:00 GMT", "utf-16", "UTF-7", "iso-8859-1", "ebcdic-cp-us", "\"", ",", ";", "=",
                "\n",
                "nan", "inf", "\u{0}",
            ] + Self.numbers
        }
    }

    private static let markup = [
        "<", ">", "/>", "</", "<![CDATA[", "]]>", "<!--", "-->", "<?xml version=\"1.0\"?>", "<?xml-stylesheet ?>",
        "<!DOCTYPE a [<!ENTITY e \"text\">]>", "<!ENTITY e \"&f;&f;\">", "<!ATTLIST record kind CDATA \"default\">",
        "&e;",
        "&amp;", "&lt;", "&#0;", "&#x1F600;", "&#55296;", "&nbsp;", "xmlns=\"urn:x\"", "xmlns:p=\"urn:p\"", "p:",
        "xml:space=\"preserve\"", "encoding=\"UTF-16\"", "encoding=\"ISO-8859-1\"", "encoding=\"x\"", "\u{FEFF}",
        "\u{0}",
        "é", "\u{1F600}", "\u{FFFE}", "\u{301}", " ", "\n", "\"", "'", "=",
    ]

    private static let pages = [
        "<html>", "</html>", "<body>", "</body>", "<table>", "</table>", "<tr>", "<td>", "</td>", "<p>", "</p>", "<b>",
        "<li>", "<ul>", "</ul>", "<script>", "</script>", "<style>", "<title>", "<br>", "<a href=x>", "<i a='", "<!x>",
        "<meta charset=", "utf-16", "shift_jis", "gbk", "<frameset>", "<select><option>", "<form>", "<textarea>",
    ]

    private static let vocabulary = [
        "<record id=\"1\">", "</record>", "<part/>", "<parts>", "<note>", "<maker name=\"m\"/>", "<link href=\"h\"/>",
        "<item>", "</item>", "<text>", "<p:secret>s</p:secret>", "id=\"\"", "id=\"2\"", "maker=\"m\"", "<size>7</size>",
        "<epoch>1800000000</epoch>", "<instant>2026-11-21T01:00:00Z</instant>", "<day>2026-11-21</day>", "<entry>",
        "<rss>", "<feed xmlns=\"http://www.w3.org/2005/Atom\">", "<guid>", "<pubDate>", "<enclosure url=\"u\"/>",
        "<url>",
        "<loc>", "<lastmod>", "<Cube time=\"2026-11-20\">", "<Cube currency=\"USD\" rate=\"1.1\"/>",
        "<soap:Envelope xmlns:soap=\"http://schemas.xmlsoap.org/soap/envelope/\">", "<soap:Body>", "</soap:Body>",
        "<soap:Fault>",
    ]

    private static let tomlWords = [
        "[store]\n", "[daemon]\n", "[defaults]\n", "[sources.a]\n", "[[sources.a.requests]]\n",
        "[[sources.a.requests.tables]]\n", "[sources.a.requests.tables.columns]\n", "path = ", "schema = ", "url = ",
        "key = ", "table = ", "element = ", "cache = ", "timeout = ", "max_body = ", "concurrency = ", "per_host = ",
        "max_requests = ", "page = ", "counter = ", "start = ", "step = ", "for_each = ", "capture = ", "until = ",
        "slices = ",
        "parser = ",
        "sync = ", "scope = ", "headers = ", "schedule = ", "time_zone = ", "[hosts.\"e.org\"]\n", "pace = ",
        "allow_private = ", "\"0 6 * * 1-5\"", "\"*/7 1-5/2 1,L * sun\"", "\"Europe/Berlin\"",
        "parameters = ", "auth = ", "type = ", "format = ", "default = ", "values = ", "references = ", "missing = ",
        "repeat = ", "on_error = ", "{ ", " }", "[", "]", "[[", "]]", "=", ".", ",", "#", "\"", "'", "\"\"\"", "'''",
        "\\", "\\u0000", "\\U0010FFFF", "\n", "\r\n", "\u{0}", "\u{FEFF}", "${TOKEN}", "${MISSING}", "${last:max(id)}",
        "${now:yyyy,-1d}", "max_skipped = ", "repair = ", "\"ampersands\"",
        "${capture:x}", "${row:id}", "${slice:from}", "${", "true", "false", "nan", "inf", "\"15m\"", "\"1e9d\"",
        "\"64KiB\"",
        "\"99999999TiB\"", "2026-11-21T01:00:00Z", "01:00:00", "0x7F", "0o7", "0b1", "1_000", "\"@id\"", "\"../a\"",
        "\"a[@b='c']\"", "\"string(a)\"", "\"*\"", "\"mirror\"", "\"integer\"", "\"%Y\"", "é", "a.b.c = 1\n",
        "{ a = { b = 1 } }",
    ]
}
