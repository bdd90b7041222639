@testable import FeedConfiguration
import FeedModel
import FeedStaging
import FeedStores
import SQLiteStore
import TestEngine
import TestSupport
import Testing
@testable import TributaryEngine

/// Calls of SOAP operations. `Scripts/trials/soap` sends them to a server that this project did not write.
@Suite struct SOAPTests {
    private func request(_ soap: String) -> String {
        """
        [[sources.s.requests]]
        url = "URL/soap"
        soap = { \(soap) }
        tables = [{ table = "rate", element = "/GetRatesResponse/rate", key = ["currency"], columns = { currency = "@code", value = "value" } }]

        """
    }

    private func envelope(_ body: String, _ namespace: String = "http://schemas.xmlsoap.org/soap/envelope/") -> String {
        "<e:Envelope xmlns:e='\(namespace)'><e:Header><rate code='no'/></e:Header><e:Body>\(body)</e:Body></e:Envelope>"
    }

    private let rates = "<GetRatesResponse xmlns='urn:r'><rate code='USD'><value>1.1</value></rate></GetRatesResponse>"

    @Test func bothVersionsAsTheirSpecificationsSay() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/soap", envelope(rates))
            let call = """
                action = "urn:r#GetRates", namespace = "urn:r", name = "GetRates", \
                parameters = { to = "a<b&${X}", from = ["USD", "GBP"], at = { "@zone" = "UTC", "." = 5 } }, \
                header = { Key = { "@xmlns" = "urn:k", id = true } }
                """
            let first = try await fixture.sync(request(call), environment: ["X": "\"<"]).first
            #expect(first?.error == nil && first?.counts.inserted == 1, "\(String(describing: first))")
            #expect(try fixture.rows("SELECT * FROM rate") == ["USD|1.1"])
            fixture.server.document("/soap", envelope(rates, "http://www.w3.org/2003/05/soap-envelope"))
            let second = try await fixture.sync(request("version = \"1.2\", " + call), environment: ["X": "x"]).first
            #expect(second?.error == nil)
            let sent = fixture.server.requests("/soap")
            #expect(sent.map(\.method) == ["POST", "POST"])
            #expect(
                sent.map { $0.headers["content-type"] } == [
                    "text/xml; charset=utf-8", "application/soap+xml; charset=utf-8; action=\"urn:r#GetRates\"",
                ])
            #expect(sent.map { $0.headers["soapaction"] } == ["\"urn:r#GetRates\"", nil])
            #expect(
                sent.first?.body == """
                    <?xml version="1.0" encoding="utf-8"?>
                    <soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Header>\
                    <Key xmlns="urn:k"><id>true</id></Key></soap:Header><soap:Body><GetRates xmlns="urn:r">\
                    <to>a&lt;b&amp;&quot;&lt;</to><from>USD</from><from>GBP</from><at zone="UTC">5</at>\
                    </GetRates></soap:Body></soap:Envelope>

                    """)
        }
    }

    /// Reads a call.
    ///
    /// - Returns: the envelope, and the mistakes.
    private func read(_ text: String) throws -> (envelope: String, problems: [String]) {
        let document = try TOMLParser.parse(text)
        let problems = ProblemCollector(ConfigurationPart(file: "", bytes: [], document: document)) { [] }
        let reader = DeclarationReader(
            document, at: TOMLKeyPath(), known: SOAPKeys.table, problems: problems,
            interpolation: Interpolation(environment: [:], folder: "/"))
        let soap = try #require(SOAPKeys.all.read(reader))
        return (soap.envelope.value, problems.found.map { "\($0.path): \($0.finding)" })
    }

    @Test func unqualifiedParameters() throws {
        let call = try read("name = 'Op'\nnamespace = 'urn:o'\nqualified = false\nparameters = { a = 1 }")
        #expect(call.envelope.contains("<soap:Body><m:Op xmlns:m=\"urn:o\"><a>1</a></m:Op></soap:Body>"))
        #expect(call.problems.isEmpty)
    }

    @Test func theOperationAndTheHeaderHaveAttributes() throws {
        let call = try read(
            """
            name = 'Op'
            namespace = 'urn:o'
            parameters = { "@version" = "2 < 3", day = 2026-01-02, "." = "t" }
            header = { "@xmlns:k" = "urn:k", "k:Key" = { "@soap:mustUnderstand" = 1, "." = "x" } }
            """)
        #expect(call.problems.isEmpty)
        #expect(call.envelope.contains("<soap:Header xmlns:k=\"urn:k\"><k:Key soap:mustUnderstand=\"1\">x</k:Key>"))
        #expect(call.envelope.contains("<Op xmlns=\"urn:o\" version=\"2 &lt; 3\"><day>2026-01-02</day>t</Op>"))
        let twice = try read("name = 'Op'\nnamespace = 'urn:o'\nparameters = { \"@xmlns\" = 'urn:p' }")
        #expect(twice.problems == ["parameters.\"@xmlns\": the operation has a 'namespace'; remove one of the two"])
    }

    @Test func faultsAreGivenWithCodeAndReason() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let old =
                "<e:Fault><faultcode>e:Client</faultcode><faultstring>no such rate</faultstring><detail/></e:Fault>"
            let new = """
                <e:Fault><e:Code><e:Value>e:Sender</e:Value><e:Subcode><e:Value>m:Late</e:Value></e:Subcode></e:Code>\
                <e:Reason><e:Text xml:lang='en'>too late</e:Text><e:Text xml:lang='de'>zu spät</e:Text></e:Reason></e:Fault>
                """
            let call = "namespace = \"urn:r\", name = \"GetRates\""
            for status in [200, 500] {
                fixture.server.route("/soap") { [self] _ in StubServer.response(status, envelope(old)) }
                let error = try await fixture.sync(request(call)).first?.error
                #expect(error?.contains("SOAP fault, e:Client: no such rate") == true, "\(error ?? "none")")
            }
            fixture.server.route("/soap") { [self] _ in
                StubServer.response(400, envelope(new, "http://www.w3.org/2003/05/soap-envelope"))
            }
            let error = try await fixture.sync(request("version = \"1.2\", " + call)).first?.error
            #expect(error?.contains("SOAP fault, e:Sender / m:Late: too late") == true, "\(error ?? "none")")
            fixture.server.route("/soap") { _ in StubServer.response(500, "<html>oops</html>") }
            #expect(try await fixture.sync(request(call)).first?.error?.contains("answered 500") == true)
            fixture.server.document("/soap", rates)
            #expect(try await fixture.sync(request(call)).first?.error?.contains("not a SOAP message") == true)
            fixture.server.document("/soap", envelope(""))
            #expect(try await fixture.sync(request(call)).first?.error?.contains("it has none at all") == true)
        }
    }

    @Test(arguments: [
        ("soap = {}", "'name' is missing"), ("soap = { name = \"a b\" }", "is not the name of an element"),
        ("soap = { name = \"A\", version = \"1.3\" }", ", found '1.3'"),
        ("soap = { name = \"A\", parameters = { \"b c\" = 1 } }", "'b c' is not the name"),
        ("soap = { name = \"A\" }\nbody = \"x\"", "found 'body' and 'soap'; give only one"),
        ("soap = { name = \"A\" }\nmethod = \"GET\"", "by POST"),
        ("body = { xml = {} }", "one element at its root"), ("body = {}", "give a string"),
        ("body = { file = \"nowhere\" }", "does not exist"),
    ])
    func wrongDeclarations(options: String, expected: String) async throws {
        try await EngineFixture.expectMistake(EngineFixture.request("/a", options), expected)
    }
}
