/// Books, invoices and reports.
extension SchemaSample {
    /// In the style of ONIX: attribute groups, lists of codes, text with markup.
    static let books = SchemaSample(
        description: "books",
        documents: [
            (
                "onix.xsd",
                schema(
                    """
                    targetNamespace="urn:o" xmlns="urn:o" elementFormDefault="qualified"
                    """,
                    """
                    <xs:redefine schemaLocation="codes.xsd"><xs:simpleType name="Role"><xs:restriction base="Role"><xs:enumeration value="A01"/></xs:restriction></xs:simpleType></xs:redefine>
                    <xs:attributeGroup name="general"><xs:attribute name="datestamp" type="xs:string"/><xs:attribute name="sourcename" type="xs:string"/></xs:attributeGroup>
                    <xs:element name="ONIXMessage"><xs:complexType><xs:sequence><xs:element name="SentDateTime" type="xs:string"/><xs:element ref="Product" minOccurs="0" maxOccurs="unbounded"/></xs:sequence><xs:attribute name="release" fixed="3.0" use="required"/></xs:complexType></xs:element>
                    <xs:element name="Product"><xs:complexType><xs:sequence>
                      <xs:element name="RecordReference"><xs:complexType><xs:simpleContent><xs:extension base="xs:ID"><xs:attributeGroup ref="general"/></xs:extension></xs:simpleContent></xs:complexType></xs:element>
                      <xs:element name="Contributor" minOccurs="0" maxOccurs="unbounded"><xs:complexType><xs:sequence><xs:element name="SequenceNumber" type="xs:positiveInteger"/><xs:element name="ContributorRole" type="Role" maxOccurs="unbounded"/><xs:element name="PersonName" type="xs:string"/></xs:sequence><xs:attributeGroup ref="general"/></xs:complexType></xs:element>
                      <xs:element name="Text" minOccurs="0" type="Flow"/>
                      <xs:element name="RelatedProduct" minOccurs="0" maxOccurs="unbounded"><xs:complexType><xs:attribute name="ref" type="xs:IDREF" use="required"/></xs:complexType></xs:element>
                    </xs:sequence><xs:attributeGroup ref="general"/></xs:complexType></xs:element>
                    <xs:complexType name="Flow" mixed="true"><xs:choice minOccurs="0" maxOccurs="unbounded"><xs:element name="p" type="Flow"/><xs:element name="em" type="Flow"/></xs:choice><xs:attribute name="textformat" type="xs:string"/></xs:complexType>
                    """)
            ),
            (
                "codes.xsd",
                schema(
                    "",
                    """
                    <xs:simpleType name="Role"><xs:restriction base="xs:token"><xs:enumeration value="A01"><xs:annotation><xs:documentation>By (author)</xs:documentation></xs:annotation></xs:enumeration><xs:enumeration value="B06"/></xs:restriction></xs:simpleType>
                    """)
            ),
        ],
        sample: """
            <ONIXMessage release="3.0" xmlns="urn:o"><SentDateTime>20261124</SentDateTime>
            <Product datestamp="20261120"><RecordReference sourcename="ed">r.1</RecordReference>
            <Contributor sourcename="x"><SequenceNumber>1</SequenceNumber><ContributorRole>A01</ContributorRole><ContributorRole>B06</ContributorRole><PersonName>Ada</PersonName></Contributor>
            <Text textformat="05">The <em>first</em> book <p>of all</p></Text></Product>
            <Product><RecordReference>r.2</RecordReference><RelatedProduct ref="r.1"/></Product></ONIXMessage>
            """,
        proposed: [
            "A01", "key = [\"record_reference\"]", "type = \"xml\"", "references = \"product(record_reference)\"",
        ])

    /// In the style of UBL: three namespaces, a root with a key, elements that are only referred to.
    static let invoice = SchemaSample(
        description: "an invoice",
        documents: [
            (
                "Invoice.xsd",
                schema(
                    """
                    targetNamespace="urn:i" xmlns="urn:i" xmlns:a="urn:a" xmlns:b="urn:b" elementFormDefault="qualified"
                    """,
                    """
                    <xs:import namespace="urn:a" schemaLocation="a.xsd"/><xs:import namespace="urn:b" schemaLocation="b.xsd"/>
                    <xs:element name="Invoice" type="InvoiceType"/>
                    <xs:complexType name="InvoiceType"><xs:sequence>
                      <xs:element ref="b:ID"/><xs:element ref="b:IssueDate"/><xs:element ref="b:Note" minOccurs="0" maxOccurs="unbounded"/>
                      <xs:element ref="a:Party"/><xs:element ref="a:InvoiceLine" maxOccurs="unbounded"/>
                    </xs:sequence></xs:complexType>
                    """)
            ),
            (
                "a.xsd",
                schema(
                    """
                    targetNamespace="urn:a" xmlns="urn:a" xmlns:b="urn:b" elementFormDefault="qualified"
                    """,
                    """
                    <xs:import namespace="urn:b" schemaLocation="b.xsd"/><xs:import namespace="urn:d" schemaLocation="missing.xsd"/>
                    <xs:element name="Party"><xs:complexType><xs:sequence><xs:element ref="b:ID" minOccurs="0"/><xs:element ref="b:Name"/><xs:element ref="Party" minOccurs="0"/></xs:sequence></xs:complexType></xs:element>
                    <xs:element name="InvoiceLine"><xs:complexType><xs:sequence><xs:element ref="b:ID"/><xs:element ref="b:Amount"/><xs:element ref="b:Note" minOccurs="0" maxOccurs="unbounded"/><xs:element ref="InvoiceLine" minOccurs="0" maxOccurs="unbounded"/></xs:sequence></xs:complexType></xs:element>
                    """)
            ),
            (
                "b.xsd",
                schema(
                    """
                    targetNamespace="urn:b" xmlns="urn:b" elementFormDefault="qualified"
                    """,
                    """
                    <xs:element name="ID"><xs:complexType><xs:simpleContent><xs:extension base="xs:normalizedString"><xs:attribute name="schemeID"/></xs:extension></xs:simpleContent></xs:complexType></xs:element>
                    <xs:element name="IssueDate" type="xs:date"/><xs:element name="Note" type="xs:string"/><xs:element name="Name" type="xs:string"/>
                    <xs:element name="Amount"><xs:complexType><xs:simpleContent><xs:restriction base="AnyAmount"><xs:totalDigits value="20"/></xs:restriction></xs:simpleContent></xs:complexType></xs:element>
                    <xs:complexType name="AnyAmount"><xs:simpleContent><xs:extension base="xs:decimal"><xs:attribute name="currencyID" use="required"/></xs:extension></xs:simpleContent></xs:complexType>
                    """)
            ),
        ],
        sample: """
            <Invoice xmlns="urn:i" xmlns:a="urn:a" xmlns:b="urn:b"><b:ID schemeID="own">R-7</b:ID><b:IssueDate>2026-11-24</b:IssueDate>
            <b:Note>one</b:Note><b:Note>two</b:Note><a:Party><b:ID>p</b:ID><b:Name>Kettle</b:Name><a:Party><b:Name>Agent</b:Name></a:Party></a:Party>
            <a:InvoiceLine><b:ID>1</b:ID><b:Amount currencyID="EUR">12.50</b:Amount><b:Note>blue</b:Note>
              <a:InvoiceLine><b:ID>1.1</b:ID><b:Amount currencyID="EUR">2.50</b:Amount></a:InvoiceLine></a:InvoiceLine>
            <a:InvoiceLine><b:ID>2</b:ID><b:Amount currencyID="EUR">12.50</b:Amount></a:InvoiceLine></Invoice>
            """,
        proposed: ["missing.xsd was not read", "the key is id", "{ parent = \"invoice\" }"])

    /// In the style of XBRL: concepts that stand for an abstract item, in a namespace of their own.
    static let report = SchemaSample(
        description: "a report",
        documents: [
            (
                "instance.xsd",
                schema(
                    """
                    targetNamespace="urn:x" xmlns:x="urn:x" elementFormDefault="qualified"
                    """,
                    """
                    <xs:import namespace="urn:g" schemaLocation="taxonomy.xsd"/>
                    <xs:element name="xbrl"><xs:complexType><xs:choice maxOccurs="unbounded"><xs:element ref="x:item"/><xs:element ref="x:context"/></xs:choice></xs:complexType></xs:element>
                    <xs:element name="item" type="x:monetary" abstract="true"/>
                    <xs:complexType name="monetary"><xs:simpleContent><xs:extension base="xs:decimal"><xs:attribute name="contextRef" type="xs:IDREF" use="required"/><xs:attribute name="decimals" type="x:precision"/></xs:extension></xs:simpleContent></xs:complexType>
                    <xs:simpleType name="precision"><xs:union memberTypes="xs:integer"><xs:simpleType><xs:restriction base="xs:string"><xs:enumeration value="INF"/></xs:restriction></xs:simpleType></xs:union></xs:simpleType>
                    <xs:element name="context"><xs:complexType><xs:sequence><xs:element name="instant" type="xs:date"/></xs:sequence><xs:attribute name="id" type="xs:ID" use="required"/></xs:complexType></xs:element>
                    """)
            ),
            (
                "taxonomy.xsd",
                schema(
                    """
                    targetNamespace="urn:g" xmlns:x="urn:x"
                    """,
                    """
                    <xs:import namespace="urn:x" schemaLocation="instance.xsd"/>
                    <xs:element name="Assets" substitutionGroup="x:item"/><xs:element name="Cash" substitutionGroup="x:item" type="x:monetary"/>
                    <xs:element name="item" substitutionGroup="x:item"/>
                    """)
            ),
        ],
        sample: """
            <x:xbrl xmlns:x="urn:x" xmlns:g="urn:g"><x:context id="c1"><x:instant>2025-12-31</x:instant></x:context><x:context id="c2"><x:instant>2026-06-30</x:instant></x:context>
            <g:Assets contextRef="c1" decimals="INF">1000</g:Assets><g:Assets contextRef="c2" decimals="0">900.5</g:Assets><g:Cash contextRef="c2">-3</g:Cash>
            <g:item contextRef="c1">4</g:item></x:xbrl>
            """,
        proposed: ["key = [\"id\"]", "references = \"context(id)\"", "table = \"assets\"", "table = \"cash\""])
}
