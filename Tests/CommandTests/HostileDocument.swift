/// A document that is made to take much out of little, and how its run must end.
struct HostileDocument: Sendable {
    var name: String
    /// The request's mapping or parser, in TOML.
    var mapping: String
    var body: [UInt8]
    /// Part of the error that discards the run; nil where it is committed.
    var refusal: String?

    init(_ name: String, by mapping: String = plain, refusal: String? = nil, _ body: String) {
        self.name = name
        self.mapping = mapping
        self.refusal = refusal
        self.body = Array(body.utf8)
    }

    // MARK: - Mappings

    static func mapping(_ columns: String) -> String {
        """
        [[sources.NAME.requests.tables]]
        table = "NAME"
        element = "r"
        [sources.NAME.requests.tables.columns]
        \(columns)
        """
    }

    static let plain = mapping("a = \"@a\"\nv = \"v\"")
    static let join = mapping("v = { path = \"v\", repeat = \"join\" }\nl = { path = \"w\", repeat = \"last\" }")
    static let whole = mapping("t = \"string(.)\"\nx = { path = \".\", type = \"xml\" }")
    static let late = mapping("a = \"@a\"\nlate = \"../late\"")
    static let inherited = mapping("a = \"../@a\"")
    static let forMany = mapping((0..<30).map { "c\($0) = \"v\"" }.joined(separator: "\n"))
    static let ofMany = mapping((0..<30).map { "c\($0) = \"c\($0)\"" }.joined(separator: "\n"))

    // MARK: - Documents

    static func times(_ count: Int, _ text: String) -> String { String(repeating: text, count: count) }
    static func numbered(_ count: Int, _ text: (Int) -> String) -> String { (0..<count).map(text).joined() }
    static func declared(_ subset: String, _ content: String) -> String { "<!DOCTYPE d [\(subset)]><d>\(content)</d>" }
    static let mebibyte = times(1 << 20, "x")

    /// Documents of one kind are synced by one process, one after another.
    enum Kind: String, CaseIterable, Sendable {
        case shapes, texts, declarations, multiples, json

        var documents: [HostileDocument] {
            switch self {
            case .shapes: HostileDocument.shapes
            case .texts: HostileDocument.texts
            case .declarations: HostileDocument.declarations
            case .multiples: HostileDocument.multiples
            case .json: HostileDocument.json
            }
        }
    }

    static let shapes = [
        HostileDocument("deepest", refusal: "nested more than 1000 deep", times(50_000, "<r>")),
        HostileDocument("deep", times(900, "<r>") + times(900, "</r>")),
        HostileDocument("widest", "<d>" + times(50_000, "<r/>") + "</d>"),
        HostileDocument(
            "names", refusal: "more than 10000 different names", "<d>" + numbered(10_100) { "<a\($0)/>" } + "</d>"),
        HostileDocument(
            "siblings", "<d><r/>" + numbered(2_000) { "<a\($0)/>" } + times(20_000, "<a1999/>") + "</d>"),
        HostileDocument(
            "paths", refusal: "more than 50000 different paths",
            "<d>" + numbered(60) { "<a\($0)>" + numbered(900) { "<b\($0)/>" } + "</a\($0)>" } + "</d>"),
        HostileDocument(
            "attributes", refusal: "more than 2000 attributes", "<d " + numbered(20_000) { "a\($0)='' " } + "/>"),
        HostileDocument(
            "namespaces", refusal: "more than 1000 namespace declarations",
            "<d " + numbered(1_500) { "xmlns:p\($0)='u' " } + "/>"),
        HostileDocument(
            "namespace", refusal: "more than 10000 different names",
            "<d>" + numbered(10_100) { "<r xmlns='u\($0)'/>" } + "</d>"),
    ]

    static let texts = [
        HostileDocument("attribute", "<d><r a='\(times(8, mebibyte))'/></d>"),
        HostileDocument("text", "<d><r><v>\(times(8, mebibyte))</v></r></d>"),
        HostileDocument(
            "text-too-long", refusal: "the text of the open elements is longer", "<d>\(times(17, mebibyte))</d>"),
        HostileDocument("cdata", "<d><r><v><![CDATA[\(times(8, mebibyte))]]></v></r></d>"),
        HostileDocument("comment", "<d><r/><!--\(mebibyte)--></d>"),
        HostileDocument("instruction", "<d><r/><?p \(mebibyte)?></d>"),
        HostileDocument("blanks", "<d><r/>\(times(200_000, " "))x\(times(50_000, "<b/>"))</d>"),
        HostileDocument(
            "columns", by: ofMany, refusal: "holds more than 16 MiB",
            "<d><r>" + numbered(20) { "<c\($0)>\(mebibyte)</c\($0)>" } + "</r></d>"),
    ]

    static let declarations = [
        HostileDocument(
            "laughs", refusal: "entity",
            declared(
                "<!ENTITY a0 'ha'>" + numbered(10) { "<!ENTITY a\($0 + 1) '\(times(10, "&a\($0);"))'>" },
                "<r><v>&a10;</v></r>")),
        HostileDocument(
            "expansion", refusal: "entities expand to more than",
            declared("<!ENTITY e '\(times(100_000, "x"))'>", times(1000, "<r><v>&e;</v></r>"))),
        HostileDocument(
            "elements", refusal: "entities expand to more than",
            declared("<!ENTITY e '\(times(10_000, "<r/>"))'>", times(10_000, "&e;"))),
        HostileDocument(
            "defaults", refusal: "attribute defaults would make it larger than max_body",
            declared("<!ATTLIST r a CDATA '\(times(100_000, "x"))'>", times(5_000, "<r/>"))),
        HostileDocument(
            "attributes-by-default", refusal: "more than 100 attributes by default",
            declared(numbered(200) { "<!ATTLIST r a\($0) CDATA 'x'>" }, "<r/>")),
        HostileDocument(
            "declarations", refusal: "more than 10000 declarations",
            declared(numbered(10_100) { "<!ENTITY e\($0) ''>" }, "<r/>")),
        HostileDocument(
            "subset", refusal: "document type declaration is longer than 262144 bytes",
            declared("<!-- \(mebibyte) -->", "<r/>")),
        HostileDocument("content", declared("<!ELEMENT r (\(numbered(20_000) { "a\($0)|" })b)*>", "<r/>")),
    ]

    static let multiples = [
        HostileDocument("join", by: join, "<d><r>" + times(50_000, "<v>x</v><w>y</w>") + "</r></d>"),
        HostileDocument("waiting", by: late, "<d>" + times(20_000, "<r a='x'/>") + "<late>y</late></d>"),
        HostileDocument(
            "waiting-long", by: late, refusal: "wait for '../late'",
            "<d>" + times(300_000, "<r a='x'/>") + "<late>y</late></d>"),
        HostileDocument(
            "inherited", by: inherited, refusal: "have more text than max_body",
            "<d a='\(times(100_000, "x"))'>" + times(5_000, "<r/>") + "</d>"),
        HostileDocument(
            "within", by: whole, refusal: "max_body",
            "<d>" + times(10, times(900, "<r>x") + times(900, "</r>")) + "</d>"),
        HostileDocument(
            "one-for-many", by: forMany, refusal: "holds more than 16 MiB", "<d><r><v>\(mebibyte)</v></r></d>"),
        HostileDocument(
            "enclosures", by: "parser = \"SyndicationParser\"", refusal: "more than 16 MiB are in one entry",
            "<rss><channel><item>" + times(90_000, "<enclosure url='u'/>") + "</item></channel></rss>"),
    ]

    static let json = [
        HostileDocument("json-deepest", refusal: "more than 512 deep", times(50_000, "[")),
        HostileDocument(
            "json-array", by: join,
            "{\"r\": {\"v\": [" + times(50_000, "1,") + "1], \"w\": [" + times(50_000, "1,") + "1]}}"),
        HostileDocument(
            "json-name", "{\"r\": {\"\(times(900, "n"))\": [" + times(50_000, "1,") + "1]}}"),
        HostileDocument(
            "json-markup", by: whole, refusal: "more than 16 MiB of elements that columns take whole",
            "{\"r\": {\"\(times(900, "n"))\": [" + times(50_000, "1,") + "1]}}"),
        HostileDocument(
            "json-names", refusal: "more than 10000 different names",
            "{" + numbered(10_100) { "\"n\($0)\": 1," } + "\"r\": 1}"),
        HostileDocument("json-string", "{\"r\": {\"v\": \"\(times(8, mebibyte))\"}}"),
    ]
}
