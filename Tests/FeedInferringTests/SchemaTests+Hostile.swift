import Testing

@testable import FeedInferring

/// Schemas that are made to cost time or memory.
extension SchemaTests {
    @Test func circlesEnd() throws {
        let toml = try proposal(
            records("<xs:group ref='g'/><xs:attributeGroup ref='ag'/>")
                + """
                <xs:group name="g"><xs:sequence><xs:group ref="h"/><xs:element name="a" type="T"/></xs:sequence></xs:group><xs:group name="h"><xs:sequence><xs:group ref="g"/></xs:sequence></xs:group>
                <xs:attributeGroup name="ag"><xs:attributeGroup ref="ah"/><xs:attribute name="x"/></xs:attributeGroup><xs:attributeGroup name="ah"><xs:attributeGroup ref="ag"/></xs:attributeGroup>
                <xs:complexType name="T"><xs:complexContent><xs:extension base="U"/></xs:complexContent></xs:complexType><xs:complexType name="U"><xs:complexContent><xs:extension base="T"/></xs:complexContent></xs:complexType>
                <xs:simpleType name="S"><xs:restriction base="R"/></xs:simpleType><xs:simpleType name="R"><xs:union memberTypes="S S S"/></xs:simpleType>
                <xs:element name="e" substitutionGroup="f"/><xs:element name="f" substitutionGroup="e"/>
                """, root: "list")
        #expect(toml.contains("\"@x\""), "\(toml)")
    }

    @Test(.timeLimit(.minutes(1))) func groupsOfGroupsAreBounded() throws {
        let groups = (0..<60).map {
            "<xs:group name='g\($0)'><xs:sequence>" + String(repeating: "<xs:group ref='g\($0 + 1)'/>", count: 10)
                + "</xs:sequence></xs:group>"
        }
        let toml = try proposal(
            records("<xs:group ref='g0'/>") + groups.joined()
                + "<xs:group name='g60'><xs:sequence><xs:element name='a' type='xs:int'/></xs:sequence></xs:group>")
        #expect(toml.contains("element = \"/list/item/a\""))
        let deep = (0..<1_000).map {
            "<xs:group name='g\($0)'><xs:sequence><xs:group ref='g\($0 + 1)'/></xs:sequence></xs:group>"
        }
        #expect { try proposal(records("<xs:group ref='g0'/>") + deep.joined()) } throws: {
            "\($0)".contains("more than 400 deep")
        }
    }

    @Test(.timeLimit(.minutes(1))) func elementsThatHoldOneAnotherAreMarkupBeyondTheMostColumns() throws {
        let names = (0..<40).map { "e\($0)" }
        let types = names.map { name in
            "<xs:element name='\(name)'><xs:complexType><xs:choice maxOccurs='unbounded'>"
                + names.map { "<xs:element ref='\($0)'/>" }.joined()
                + "</xs:choice><xs:attribute name='x'/></xs:complexType></xs:element>"
        }
        let toml = try proposal(types.joined(), root: "e0")
        #expect(toml.contains("and 30 more."))
        #expect(toml.matches(of: /\[\[sources/).count <= SchemaGuide.mostPaths)
    }

    @Test(.timeLimit(.minutes(1))) func chainsOfTypesAndOfSubstitutionsCostWhatTheirLengthCosts() throws {
        let types = (0..<20_000).map {
            "<xs:complexType name='T\($0)'><xs:complexContent><xs:extension base='T\($0 + 1)'><xs:attribute name='a\($0)'/></xs:extension></xs:complexContent></xs:complexType>"
        }
        let toml = try proposal(
            records("<xs:sequence><xs:element name='q' type='T19500'/></xs:sequence>") + types.joined()
                + "<xs:complexType name='T20000'/>")
        #expect(toml.contains("\"q/@a19999\""))
        #expect(
            try proposal(
                records("<xs:sequence><xs:element name='q' type='T0'/></xs:sequence>") + types.joined()
                    + "<xs:complexType name='T20000'/>"
            ).contains("as there would be too many columns"))

        let members = (0..<20_000).map { "<xs:element name='e\($0 + 1)' substitutionGroup='e\($0)'/>" }
        #expect(
            try proposal(
                records("<xs:sequence><xs:element ref='e0' maxOccurs='9'/></xs:sequence>")
                    + "<xs:element name='e0' type='xs:int'/>" + members.joined(), root: "list"
            ).contains("type = \"xml\""))
    }

    @Test(.timeLimit(.minutes(1))) func aRecordOfAHundredThousandElementsIsMarkup() throws {
        let elements = (0..<100_000).map { "<xs:element name='e\($0)' type='xs:int' minOccurs='0'/>" }
        let toml = try proposal(records("<xs:sequence>\(elements.joined())</xs:sequence>"))
        #expect(toml.contains("type = \"xml\""), "\(toml)")
        #expect(toml.contains("as there would be too many columns: <item>."), "\(toml)")
    }
}
