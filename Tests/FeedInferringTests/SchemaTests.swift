import Testing

@testable import FeedInferring

/// What is proposed for the parts that an XML Schema may consist of.
@Suite struct SchemaTests {
    func schema(_ body: String, attributes: String = "") throws -> SchemaSet {
        try SchemaSet("<xs:schema xmlns:xs=\"http://www.w3.org/2001/XMLSchema\" \(attributes)>\(body)</xs:schema>")
    }

    func proposal(_ body: String, root: String? = nil) throws -> String {
        try MappingProposal(of: try schema(body), root: root).toml
    }

    func records(_ content: String) -> String {
        """
        <xs:element name="list"><xs:complexType><xs:sequence><xs:element name="item" maxOccurs="unbounded"><xs:complexType>
        \(content)</xs:complexType></xs:element></xs:sequence></xs:complexType></xs:element>
        """
    }

    @Test(arguments: [
        ("xs:int", "integer"), ("xs:unsignedLong", "decimal"), ("xs:decimal", "decimal"), ("xs:double", "real"),
        ("xs:boolean", "boolean"), ("xs:date", "date"), ("xs:dateTime", "datetime"), ("xs:base64Binary", "blob"),
    ]) func aSimpleTypeIsATypeOfColumns(type: String, column: String) throws {
        let toml = try proposal(records("<xs:attribute name='a' type='\(type)'/>"))
        #expect(toml.contains("a        = { path = \"@a\", type = \"\(column)\" }"), "\(toml)")
    }

    @Test(arguments: ["xs:time", "xs:gYear", "xs:duration", "xs:anyURI", "xs:NMTOKENS", "unknown"])
    func otherTypesAreTexts(type: String) throws {
        #expect(try proposal(records("<xs:attribute name='a' type='\(type)'/>")).contains("a        = \"@a\"\n"))
    }

    @Test func restrictionsUnionsAndListsHaveATypeToo() throws {
        let toml = try proposal(
            records(
                """
                <xs:attribute name="hex" type="xs:hexBinary"/><xs:attribute name="both" type="both"/><xs:attribute name="mixed" type="mixed"/>
                <xs:attribute name="codes" type="codes"/><xs:attribute name="long" type="long"/><xs:attribute name="whole" type="whole"/>
                """)
                    + """
                    <xs:simpleType name="both"><xs:union memberTypes="xs:int xs:long"/></xs:simpleType>
                    <xs:simpleType name="mixed"><xs:union memberTypes="xs:date xs:dateTime"/></xs:simpleType>
                    <xs:simpleType name="codes"><xs:list itemType="xs:int"/></xs:simpleType>
                    <xs:simpleType name="long"><xs:restriction base="xs:integer"><xs:totalDigits value="30"/></xs:restriction></xs:simpleType>
                    <xs:simpleType name="whole"><xs:restriction base="xs:decimal"><xs:totalDigits value="9"/><xs:fractionDigits value="0"/></xs:restriction></xs:simpleType>
                    """)
        #expect(toml.contains("hex      = { path = \"@hex\", type = \"blob\", format = \"hex\" }"), "\(toml)")
        #expect(toml.contains("both     = { path = \"@both\", type = \"integer\" }"))
        #expect(toml.contains("mixed    = \"@mixed\""))
        #expect(toml.contains("codes    = \"@codes\""))
        #expect(toml.contains("long     = { path = \"@long\", type = \"decimal\" }"))
        #expect(toml.contains("whole    = { path = \"@whole\", type = \"integer\" }"))
    }

    @Test func manyChoicesAreCountedAndDocumentationIsOneLine() throws {
        let choices = (0..<10_000).map { "<xs:enumeration value='v\($0)'/>" }.joined()
        let toml = try proposal(
            records(
                "<xs:attribute name='a' type='c'><xs:annotation><xs:documentation>One\u{2028}two\n\t three.</xs:documentation></xs:annotation></xs:attribute>"
            )
                + "<xs:simpleType name='c'><xs:restriction base='xs:string'>\(choices)</xs:restriction></xs:simpleType>"
        )
        #expect(
            toml.contains("# v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, … (10,000 values); One two three."),
            "\(toml)")
    }

    @Test func whatIsRequiredIsRequiredUnlessAChoiceOrAnOptionalParentLeavesItOut() throws {
        let toml = try proposal(
            records(
                """
                <xs:sequence><xs:element name="a" type="xs:string"/><xs:element name="b" type="xs:string" minOccurs="0"/>
                <xs:choice><xs:element name="c" type="xs:string"/><xs:element name="d" type="xs:string"/></xs:choice>
                <xs:element name="e" minOccurs="0"><xs:complexType><xs:attribute name="f" use="required"/></xs:complexType></xs:element>
                <xs:element name="n" type="xs:string" nillable="true"/></xs:sequence>
                """))
        #expect(toml.contains("a        = { path = \"a\", required = true }"), "\(toml)")
        for column in ["b", "c", "d", "n"] {
            #expect(toml.contains("\n\(column)        = \"\(column)\"\n"), "\(column)\n\(toml)")
        }
        #expect(toml.contains("e_f      = \"e/@f\""))
    }

    @Test func anElementThatOccursTwiceInASequenceIsATable() throws {
        let toml = try proposal(
            records(
                """
                <xs:sequence><xs:element name="a" type="xs:string"/><xs:element name="b" type="xs:string"/><xs:element name="a" type="xs:string"/>
                </xs:sequence>
                """))
        #expect(toml.contains("element = \"/list/item/a\""), "\(toml)")
        let choice = try proposal(
            records(
                """
                <xs:choice><xs:element name="a" type="xs:string"/><xs:sequence><xs:element name="b" type="xs:string"/><xs:element name="a" type="xs:string"/></xs:sequence>
                </xs:choice>
                """))
        #expect(!choice.contains("element = \"/list/item/a\""), "\(choice)")
    }

    @Test func aTypeWithinItselfIsMarkupOrFurtherLevels() throws {
        let linked = try proposal(
            records("<xs:sequence><xs:element name='node' type='N'/></xs:sequence>")
                + "<xs:complexType name='N'><xs:sequence><xs:element name='v' type='xs:int'/><xs:element name='node' type='N' minOccurs='0'/></xs:sequence></xs:complexType>"
        )
        #expect(linked.contains("element = \"node\""), "\(linked)")
        let tree = try proposal(
            records("<xs:sequence><xs:element name='tree' type='T'/></xs:sequence>")
                + "<xs:complexType name='T'><xs:sequence><xs:element name='left' type='T' minOccurs='0'/><xs:element name='right' type='T' minOccurs='0'/><xs:element name='v' type='xs:int'/></xs:sequence></xs:complexType>"
        )
        #expect(tree.contains("tree_left  = { path = \"tree/left\", type = \"xml\" }"), "\(tree)")
        #expect(tree.contains("too many columns: <left>, <right>."))
    }

    @Test func anAbstractTypeHoldsWhatDerivedTypesHold() throws {
        let toml = try proposal(
            records("<xs:sequence><xs:element name='a' type='A'/></xs:sequence>")
                + """
                <xs:complexType name="A" abstract="true"><xs:attribute name="x"/></xs:complexType>
                <xs:complexType name="B"><xs:complexContent><xs:extension base="A"><xs:sequence><xs:element name="y" type="xs:int"/></xs:sequence></xs:extension></xs:complexContent></xs:complexType>
                <xs:complexType name="C"><xs:complexContent><xs:extension base="B"><xs:attribute name="z"/></xs:extension></xs:complexContent></xs:complexType>
                """)
        for column in ["a_x", "a_y", "a_z"] { #expect(toml.contains(column), "\(toml)") }
    }

    @Test func severalRootsAreNamed() throws {
        let two =
            "<xs:element name='a'><xs:complexType><xs:attribute name='x'/></xs:complexType></xs:element><xs:element name='b' type='xs:int'/>"
        #expect {
            try proposal(two)
        } throws: {
            "\($0)" == "the schema has 2 elements that may be the root: a, b; name one with --root, or give a document"
        }
        #expect(try proposal(two, root: "a").contains("element = \"/a\""))
        #expect { try proposal(two, root: "c") } throws: { "\($0)".contains("no element 'c'; it declares a, b") }
        #expect { try proposal("<xs:simpleType name='t'/>") } throws: {
            "\($0)".contains("declares no element, only types")
        }
        #expect { try SchemaSet("<a/>") } throws: { "\($0)".contains("the root element is <a>, not <schema>") }
    }

    @Test func aDocumentOfAnotherSchemaIsRefused() throws {
        let known = try schema("<xs:element name='a' type='xs:int'/>")
        #expect { try MappingProposal(of: "<b xmlns='urn:b'/>", known) } throws: {
            "\($0)" == "the document's root <b> of the namespace urn:b is not declared in the schema"
        }
    }

    @Test func aDocumentSaysWhatOccursAndTheSchemaWhatItIs() throws {
        let known = try schema(
            records(
                "<xs:sequence><xs:element name='a' type='xs:string'/><xs:element name='b' type='xs:int' minOccurs='0'/><xs:element name='c' minOccurs='0' maxOccurs='9' type='xs:date'/></xs:sequence><xs:attribute name='id' use='required'/>"
            ))
        let toml = try MappingProposal(
            of: "<list><item id='1'><a>007</a><c>2026-11-24</c></item><item id='2'><a>5</a></item></list>", known
        ).toml
        #expect(toml.contains("key = [\"id\"]"), "\(toml)")
        #expect(toml.contains("a  = { path = \"a\", required = true }"), "\(toml)")
        #expect(toml.contains("element = \"/list/item/c\""), "\(toml)")
        #expect(!toml.contains("\"b\""), "\(toml)")
        #expect(toml.contains("(`infer --xsd` without a document proposes all): list/item/b.\n"), "\(toml)")
    }

    @Test func aDocumentShowsNoKeyOfRecordsWithinOthers() throws {
        let known = try schema(
            records(
                """
                <xs:sequence><xs:element name="goods" maxOccurs="9"><xs:complexType><xs:attribute name="sku" use="required"/><xs:attribute name="pos"
                use="required"/></xs:complexType></xs:element></xs:sequence><xs:attribute name="id" use="required"/>
                """))
        for goods in ["<goods sku='a' pos='1'/>", "<goods sku='a' pos='1'/><goods sku='b' pos='2'/>"] {
            let toml = try MappingProposal(
                of: "<list><item id='1'>\(goods)</item><item id='2'>\(goods)</item></list>", known
            ).toml
            let key = "key = [\"item_id\", \"position\"]\nsync = \"mirror\"\nwithin = \"item_id\"\n"
            #expect(toml.contains(key) && toml.contains("because the schema declares no key"), "\(toml)")
        }
    }

    @Test func anUnknownHeadOfASubstitutionGroupIsNamed() throws {
        let toml = try proposal(
            """
            <xs:element name="r"><xs:complexType><xs:sequence><xs:element ref="vehicle" maxOccurs="9"/></xs:sequence></xs:complexType></xs:element>
            <xs:element name="vehicle" type="V"/><xs:element name="car" type="V" substitutionGroup="vehicel"/>
            <xs:complexType name="V"><xs:attribute name="x"/></xs:complexType>
            """, root: "r")
        #expect(toml.contains("no document declares the head") && toml.contains("<car> of <vehicel>."), "\(toml)")
    }

    @Test func aColumnIsTextWhereAValueOfTheDocumentIsNotOfTheSchemasType() throws {
        let known = try schema(
            records(
                """
                <xs:attribute name="id" use="required"/><xs:attribute name="at" type="xs:dateTime"/><xs:attribute name="exact" type="xs:dateTime"/>
                <xs:attribute name="late" type="xs:dateTime"/><xs:attribute name="n" type="xs:integer"/><xs:attribute name="b" type="xs:boolean"/>
                <xs:attribute name="on" type="xs:boolean"/><xs:attribute name="x" type="xs:double"/>
                """))
        let toml = try MappingProposal(
            of: """
                <list><item id="1" at="2026-11-24T10:00:00.25Z" exact="2019-12-20T11:48:19.283573Z" late="20209-12-17T09:30:46Z"
                n="123456789012345678901" b="maybe" on="1" x="-INF"/><item id="2" at="2026-11-24T24:00:00" n="5" b="true" on="false" x="1e3"/></list>
                """, known
        ).toml
        #expect(toml.contains("at    = { path = \"@at\", type = \"datetime\" }"), "\(toml)")
        #expect(toml.contains("on    = { path = \"@on\", type = \"boolean\" }"), "\(toml)")
        #expect(toml.contains("x     = { path = \"@x\", type = \"real\" }"), "\(toml)")
        for (name, type) in [("exact", "datetime"), ("late", "datetime"), ("n", "integer"), ("b", "boolean")] {
            let padding = String(repeating: " ", count: 5 - name.count)
            let comment = "# \(type) in the schema, which not all values of the document are"
            #expect(toml.contains("\(name)\(padding) = \"@\(name)\"  \(comment)"), "\(toml)")
        }
    }

    @Test func aReferenceIsToTheKeyThatTheRowsHave() throws {
        let body = """
            <xs:element name="r"><xs:complexType><xs:sequence>
            <xs:element name="s" maxOccurs="9"><xs:complexType><xs:attribute name="id" use="required"/><xs:attribute name="v" use="required"/></xs:complexType></xs:element>
            <xs:element name="t" maxOccurs="9"><xs:complexType><xs:attribute name="ref" use="required"/></xs:complexType></xs:element>
            </xs:sequence></xs:complexType>KEYS
            <xs:keyref name="f" refer="one"><xs:selector xpath=".//t"/><xs:field xpath="@ref"/></xs:keyref></xs:element>
            """
        let two = "<xs:key name='two'><xs:selector xpath='.//s'/><xs:field xpath='@id'/><xs:field xpath='@v'/></xs:key>"
        let one = "<xs:key name='one'><xs:selector xpath='.//s'/><xs:field xpath='@id'/></xs:key>"
        #expect(try proposal(body.replacing("KEYS", with: one)).contains("references = \"s(id)\""))
        let both = try proposal(body.replacing("KEYS", with: two + one))
        #expect(both.contains("key = [\"id\", \"v\"]") && !both.contains("references"), "\(both)")
    }

    @Test(arguments: [0, 1]) func anIdentifierThatTheRootMayLackIsNoKey(atLeast: Int) throws {
        let toml = try proposal(
            """
            <xs:element name="r"><xs:complexType><xs:sequence><xs:element name="id" type="xs:string" minOccurs="\(atLeast)"/>
            <xs:element name="s" maxOccurs="9"><xs:complexType><xs:attribute name="x"/></xs:complexType></xs:element></xs:sequence></xs:complexType></xs:element>
            """)
        #expect(toml.contains("key = [\"id\"]") == (atLeast == 1), "\(toml)")
        #expect(toml.contains("{ parent = \"r\" }") == (atLeast == 1), "\(toml)")
    }
}
