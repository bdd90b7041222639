/// Small schemas in the style of well-known ones, each with a document.
package struct SchemaSample: Sendable, CustomStringConvertible {
    package var description: String
    /// The schema's documents, by the names under which they include and import one another; the first is the schema.
    package var documents: [(name: String, text: String)]
    package var sample: String
    /// Parts of the proposal for the schema alone.
    package var proposed: [String]

    static func schema(_ attributes: String, _ body: String) -> String {
        """
        <?xml version="1.0"?>
        <xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" \(attributes)>
        \(body)
        </xs:schema>
        """
    }

    package static let all = [timetable, situation, statement, books, invoice, report]

    /// In the style of NeTEx: substitution groups, abstract types, keys of two fields, a document that is included.
    static let timetable = SchemaSample(
        description: "a timetable",
        documents: [
            (
                "publication.xsd",
                schema(
                    """
                    targetNamespace="urn:t" xmlns="urn:t" elementFormDefault="qualified"
                    """,
                    """
                    <xs:include schemaLocation="parts/objects.xsd"/>
                    <xs:element name="PublicationDelivery"><xs:complexType><xs:sequence>
                      <xs:element name="PublicationTimestamp" type="xs:dateTime"/>
                      <xs:element name="ParticipantRef" type="xs:NMTOKEN"/>
                      <xs:element name="dataObjects"><xs:complexType><xs:choice maxOccurs="unbounded">
                        <xs:element ref="DataObject"/>
                      </xs:choice></xs:complexType></xs:element>
                    </xs:sequence><xs:attribute name="version" type="xs:string" use="required"/></xs:complexType>
                    <xs:key name="Stop_Key"><xs:selector xpath=".//StopPlace"/><xs:field xpath="@id"/><xs:field xpath="@version"/></xs:key>
                    <xs:key name="Line_Key"><xs:selector xpath=".//Line"/><xs:field xpath="@id"/></xs:key>
                    <xs:keyref name="Line_Ref" refer="Line_Key"><xs:selector xpath=".//StopPlace/lines/LineRef"/><xs:field xpath="@ref"/></xs:keyref>
                    </xs:element>
                    """)
            ),
            (
                "parts/objects.xsd",
                schema(
                    """
                    targetNamespace="urn:t" xmlns="urn:t" elementFormDefault="qualified"
                    """,
                    """
                    <xs:include schemaLocation="../publication.xsd"/>
                    <xs:element name="DataObject" type="DataObject_Structure" abstract="true"/>
                    <xs:element name="StopPlace" type="StopPlace_Structure" substitutionGroup="DataObject"/>
                    <xs:element name="Line" substitutionGroup="DataObject"><xs:complexType><xs:complexContent>
                      <xs:extension base="DataObject_Structure"><xs:sequence>
                        <xs:element name="TransportMode" type="Modes"/>
                      </xs:sequence></xs:extension></xs:complexContent></xs:complexType></xs:element>
                    <xs:simpleType name="Modes"><xs:restriction base="xs:NMTOKEN"><xs:enumeration value="bus"/><xs:enumeration value="rail"/></xs:restriction></xs:simpleType>
                    <xs:complexType name="DataObject_Structure" abstract="true">
                      <xs:sequence><xs:group ref="NameGroup"/><xs:element name="Extensions" minOccurs="0">
                        <xs:complexType><xs:sequence><xs:any namespace="##any" processContents="lax" maxOccurs="unbounded"/></xs:sequence></xs:complexType>
                      </xs:element></xs:sequence>
                      <xs:attribute name="id" type="xs:string" use="required"/><xs:attribute name="version" type="xs:string" use="required"/>
                    </xs:complexType>
                    <xs:group name="NameGroup"><xs:sequence>
                      <xs:element name="Name" minOccurs="0" type="Text"><xs:annotation><xs:documentation>Name of the
                        object.</xs:documentation></xs:annotation></xs:element>
                    </xs:sequence></xs:group>
                    <xs:complexType name="Text"><xs:simpleContent><xs:extension base="xs:string"><xs:attribute name="lang" type="xs:language"/></xs:extension></xs:simpleContent></xs:complexType>
                    <xs:complexType name="StopPlace_Structure"><xs:complexContent><xs:extension base="DataObject_Structure"><xs:sequence>
                      <xs:element name="Centroid" minOccurs="0"><xs:complexType><xs:sequence>
                        <xs:element name="Longitude" type="xs:decimal"/><xs:element name="Latitude" type="xs:decimal"/>
                      </xs:sequence></xs:complexType></xs:element>
                      <xs:element name="lines" minOccurs="0"><xs:complexType><xs:sequence>
                        <xs:element name="LineRef" maxOccurs="unbounded"><xs:complexType><xs:attribute name="ref" type="xs:string" use="required"/></xs:complexType></xs:element>
                      </xs:sequence></xs:complexType></xs:element>
                      <xs:element name="StopPlace" type="StopPlace_Structure" minOccurs="0" maxOccurs="unbounded"/>
                    </xs:sequence></xs:extension></xs:complexContent></xs:complexType>
                    """)
            ),
        ],
        sample: """
            <PublicationDelivery version="1.1" xmlns="urn:t"><PublicationTimestamp>2026-11-24T06:00:00Z</PublicationTimestamp>
            <ParticipantRef>OPS</ParticipantRef><dataObjects>
            <StopPlace id="s:1" version="2"><Name lang="de">Markt</Name><Centroid><Longitude>13.4</Longitude><Latitude>52.52</Latitude></Centroid>
              <lines><LineRef ref="l:4"/><LineRef ref="l:5"/></lines>
              <StopPlace id="s:1a" version="2"><Name>Markt, Nord</Name></StopPlace></StopPlace>
            <StopPlace id="s:1" version="3"><Name>Marktplatz</Name><Extensions><x>höher</x></Extensions></StopPlace>
            <Line id="l:4" version="1"><Name>M4</Name><TransportMode>rail</TransportMode></Line>
            <Line id="l:5" version="1"><TransportMode>bus</TransportMode></Line>
            </dataObjects></PublicationDelivery>
            """,
        proposed: [
            "bus, rail", "Name of the object.", "key = [\"id\", \"version\"]", "references = \"line(id)\"",
            "extensions", "type = \"xml\"",
        ])

    /// In the style of SIRI: groups, choices, wrappers, times, recursion over another element.
    static let situation = SchemaSample(
        description: "situations",
        documents: [
            (
                "siri.xsd",
                schema(
                    """
                    targetNamespace="urn:s" xmlns:s="urn:s" elementFormDefault="qualified"
                    """,
                    """
                    <xs:element name="Siri"><xs:complexType><xs:sequence><xs:element ref="s:ServiceDelivery"/></xs:sequence></xs:complexType></xs:element>
                    <xs:element name="ServiceDelivery"><xs:complexType><xs:sequence>
                      <xs:element name="ResponseTimestamp" type="xs:dateTime"/>
                      <xs:choice><xs:element name="ProducerRef" type="xs:string"/><xs:element name="Address" type="xs:anyURI"/></xs:choice>
                      <xs:element name="Delivery" maxOccurs="unbounded"><xs:complexType><xs:sequence>
                        <xs:element name="Status" type="xs:boolean" default="true" minOccurs="0"/>
                        <xs:element name="Situations"><xs:complexType><xs:sequence><xs:element name="Situation" type="s:Situation" minOccurs="0" maxOccurs="unbounded"/></xs:sequence></xs:complexType></xs:element>
                      </xs:sequence><xs:attribute name="version" type="xs:string"/></xs:complexType></xs:element>
                    </xs:sequence></xs:complexType></xs:element>
                    <xs:complexType name="Situation"><xs:sequence>
                      <xs:group ref="s:Identity"/>
                      <xs:element name="Summary" type="s:Text" maxOccurs="unbounded"/>
                      <xs:element name="Priority" type="xs:positiveInteger" minOccurs="0"/>
                      <xs:element name="Validity"><xs:complexType><xs:sequence><xs:element name="StartTime" type="xs:dateTime"/><xs:element name="EndTime" type="xs:dateTime" minOccurs="0"/></xs:sequence></xs:complexType></xs:element>
                      <xs:element name="Consequence" minOccurs="0"><xs:complexType><xs:sequence>
                        <xs:element name="Delay" type="xs:duration"/><xs:element name="Situation" type="s:Situation" minOccurs="0"/>
                      </xs:sequence></xs:complexType></xs:element>
                    </xs:sequence></xs:complexType>
                    <xs:group name="Identity"><xs:sequence><xs:element name="CreationTime" type="xs:dateTime"/><xs:element name="SituationNumber" type="xs:string"/></xs:sequence></xs:group>
                    <xs:complexType name="Text"><xs:simpleContent><xs:extension base="xs:string"><xs:attribute ref="xml:lang"/></xs:extension></xs:simpleContent></xs:complexType>
                    """)
            )
        ],
        sample: """
            <Siri xmlns="urn:s"><ServiceDelivery><ResponseTimestamp>2026-11-24T05:00:00Z</ResponseTimestamp><ProducerRef>ops</ProducerRef>
            <Delivery version="2.0"><Status>true</Status><Situations>
            <Situation><CreationTime>2026-11-24T04:00:00Z</CreationTime><SituationNumber>N1</SituationNumber>
              <Summary xml:lang="de">Bauarbeiten</Summary><Summary xml:lang="en">Works</Summary><Priority>3</Priority>
              <Validity><StartTime>2026-11-25T04:00:00Z</StartTime></Validity>
              <Consequence><Delay>PT5M</Delay><Situation><CreationTime>2026-11-24T04:30:00Z</CreationTime><SituationNumber>N1a</SituationNumber><Summary>more</Summary><Validity><StartTime>2026-11-26T04:00:00Z</StartTime></Validity></Situation></Consequence></Situation>
            <Situation><CreationTime>2026-11-24T04:00:00Z</CreationTime><SituationNumber>N2</SituationNumber>
              <Summary>Umleitung</Summary><Validity><StartTime>2026-11-25T04:00:00Z</StartTime><EndTime>2026-12-25T04:00:00Z</EndTime></Validity></Situation>
            </Situations></Delivery></ServiceDelivery></Siri>
            """,
        proposed: ["type = \"datetime\"", "summary", "priority"])

    /// In the style of ISO 20022: everything is a named type, nothing has a key.
    static let statement = SchemaSample(
        description: "a bank statement",
        documents: [
            (
                "camt.xsd",
                schema(
                    """
                    xmlns="urn:c" targetNamespace="urn:c" elementFormDefault="qualified"
                    """,
                    """
                    <xs:element name="Document" type="Document"/>
                    <xs:complexType name="Document"><xs:sequence><xs:element name="BkToCstmrStmt" type="Message"/></xs:sequence></xs:complexType>
                    <xs:complexType name="Message"><xs:sequence><xs:element name="GrpHdr" type="Header"/><xs:element name="Stmt" type="Statement" maxOccurs="unbounded"/></xs:sequence></xs:complexType>
                    <xs:complexType name="Header"><xs:sequence><xs:element name="MsgId" type="Max35Text"/><xs:element name="CreDtTm" type="xs:dateTime"/></xs:sequence></xs:complexType>
                    <xs:complexType name="Statement"><xs:sequence><xs:element name="Id" type="Max35Text"/><xs:element name="Acct" type="Account"/><xs:element name="Bal" type="Balance" maxOccurs="unbounded"/><xs:element name="Ntry" type="Entry" minOccurs="0" maxOccurs="unbounded"/></xs:sequence></xs:complexType>
                    <xs:complexType name="Account"><xs:choice><xs:element name="IBAN" type="IBAN"/><xs:element name="Othr" type="Max35Text"/></xs:choice></xs:complexType>
                    <xs:complexType name="Balance"><xs:sequence><xs:element name="Cd" type="Code"/><xs:element name="Amt" type="Amount"/><xs:element name="Dt" type="xs:date"/></xs:sequence></xs:complexType>
                    <xs:complexType name="Entry"><xs:sequence><xs:element name="Amt" type="Amount"/><xs:element name="CdtDbtInd" type="Direction"/><xs:element name="RmtInf" minOccurs="0"><xs:complexType><xs:sequence><xs:element name="Ustrd" type="xs:string" minOccurs="0" maxOccurs="unbounded"/></xs:sequence></xs:complexType></xs:element></xs:sequence></xs:complexType>
                    <xs:complexType name="Amount"><xs:simpleContent><xs:extension base="AmountValue"><xs:attribute name="Ccy" type="xs:string" use="required"/></xs:extension></xs:simpleContent></xs:complexType>
                    <xs:simpleType name="AmountValue"><xs:restriction base="xs:decimal"><xs:fractionDigits value="5"/><xs:totalDigits value="18"/></xs:restriction></xs:simpleType>
                    <xs:simpleType name="Max35Text"><xs:restriction base="xs:string"><xs:maxLength value="35"/></xs:restriction></xs:simpleType>
                    <xs:simpleType name="IBAN"><xs:restriction base="xs:string"><xs:pattern value="[A-Z]{2}.*"/></xs:restriction></xs:simpleType>
                    <xs:simpleType name="Code"><xs:restriction base="xs:string"><xs:enumeration value="OPBD"/><xs:enumeration value="CLBD"/></xs:restriction></xs:simpleType>
                    <xs:simpleType name="Direction"><xs:restriction base="xs:string"><xs:enumeration value="CRDT"/><xs:enumeration value="DBIT"/></xs:restriction></xs:simpleType>
                    """)
            )
        ],
        sample: """
            <Document xmlns="urn:c"><BkToCstmrStmt><GrpHdr><MsgId>M-1</MsgId><CreDtTm>2026-11-24T05:00:00+01:00</CreDtTm></GrpHdr>
            <Stmt><Id>S-1</Id><Acct><IBAN>DE02120300000000202051</IBAN></Acct>
            <Bal><Cd>OPBD</Cd><Amt Ccy="EUR">100.00</Amt><Dt>2026-11-20</Dt></Bal><Bal><Cd>CLBD</Cd><Amt Ccy="EUR">80.25</Amt><Dt>2026-11-20</Dt></Bal>
            <Ntry><Amt Ccy="EUR">10.00</Amt><CdtDbtInd>DBIT</CdtDbtInd><RmtInf><Ustrd>first</Ustrd><Ustrd>second</Ustrd></RmtInf></Ntry>
            <Ntry><Amt Ccy="EUR">10.00</Amt><CdtDbtInd>DBIT</CdtDbtInd></Ntry><Ntry><Amt Ccy="EUR">10.00</Amt><CdtDbtInd>DBIT</CdtDbtInd></Ntry></Stmt>
            <Stmt><Id>S-2</Id><Acct><Othr>7</Othr></Acct><Bal><Cd>CLBD</Cd><Amt Ccy="SEK">0.00001</Amt><Dt>2026-11-20</Dt></Bal></Stmt>
            </BkToCstmrStmt></Document>
            """,
        proposed: ["CRDT, DBIT", "type = \"decimal\"", "the schema declares no key"])
}
