import FeedModel
import FeedStaging
import FeedStores
import SQLiteStore
import Foundation
import TestEngine
import TestSupport
import Testing
@testable import FeedConfiguration
@testable import FeedFetching
@testable import TributaryEngine

/// A secret that a server sends back, in whatever form, is neither shown nor kept.
@Suite struct SecretTests {
    private static let secret = "h/n+er \"2<2&ä'?"

    private static let forms: [String] = [
        secret, "h%2Fn%2Ber%20%222%3C2%26%C3%A4%27%3F", "h%2fn%2ber%20%222%3c2%26%c3%a4%27%3f",
        "h%2Fn%2Ber+%222%3C2%26%C3%A4%27%3F", "h/n+er \\\"2<2&ä'?", "h\\/n+er \\\"2<2&\\u00e4'?",
        "h/n+er \\\"2<2&\\u00E4'?", "h/n+er \\\"2\\u003c2\\u0026\\u00e4\\u0027?", "h/n+er \"2&lt;2&amp;ä'?",
        "h/n+er &quot;2&lt;2&amp;ä&apos;?", "h/n+er &#34;2&lt;2&amp;ä&#39;?",
        Data(secret.utf8).base64EncodedString(),
        Data(secret.utf8).base64EncodedString().replacingOccurrences(of: "+", with: "-")
            .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: ""),
        "h/n+er \"2<2&Ã¤'?",
    ]

    private static let oauth2 =
        "auth = { oauth2 = { token_url = \"URL/token\", client_id = \"me\", client_secret = \"${SECRET}\" } }"

    private static func fault(_ content: String) -> [StubServer.Step] {
        StubServer.response(
            500,
            "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body><s:Fault>\(content)"
                + "</s:Fault></s:Body></s:Envelope>")
    }

    private static func read(_ sources: String, _ environment: [String: String]) throws -> TributaryConfiguration {
        try ConfigurationReader(
            file: "/sources.toml", bytes: Array(sources.replacing("URL", with: "http://127.0.0.1:1").utf8),
            parsers: EngineFixture.registry, environment: environment
        ).read()
    }

    @Test(arguments: forms)
    func aSecretIsFoundInEachForm(form: String) {
        let redactor = Redactor(secrets: [Self.secret])
        let redacted = redactor.redact("before \(form) after")
        #expect(redacted.hasPrefix("before [secret]") && redacted.hasSuffix(" after"), "\(redacted)")
    }

    @Test func credentialsAreFoundAsTheyAreSent() {
        let basic = Authentication.basic(user: InterpolatedText("Aladdin"), password: InterpolatedText("open sesame"))
        let client = ClientCredentials(
            tokenURL: InterpolatedText("http://h/"), clientID: InterpolatedText("me & you"),
            clientSecret: InterpolatedText("s3cr:et"), scope: nil, parameters: [:], place: .header)
        let redactor = Redactor(authentications: [basic, .oauth2(client)])
        let pair = Data("me%20%26%20you:s3cr%3Aet".utf8).base64EncodedString()
        for text in ["QWxhZGRpbjpvcGVuIHNlc2FtZQ==", "open sesame", "s3cr:et", pair] {
            #expect(redactor.finds(in: "x\(text)x"), "\(text)")
        }
        #expect(!redactor.finds(in: "Aladdin opens nothing"))
    }

    /// Excerpts are cut before secrets are removed from them.
    @Test func aSecretThatWasCutIsFound() {
        let secret = "sk-live-4f9a1c77e2d84b0b9c55"
        let redactor = Redactor(secrets: [secret])
        for length in 4..<secret.count {
            let cut = redactor.redact("'Invalid key: \(secret.prefix(length))…' and \(secret)…")
            #expect(cut == "'Invalid key: [secret]…' and [secret]…")
        }
        for text in ["sk-… is short", "a…b", "…", "sk-live without a cut", "live-4f9a…"] {
            #expect(redactor.redact(text) == text)
        }
    }

    @Test(arguments: ["text/plain", "text/csv", "application/json", "application/xml"])
    func inTheExcerptOfADocument(type: String) async throws {
        try await EngineFixture.with { (fixture) async throws in
            let secret = "sk-live-" + String(repeating: "4f9a1c77e2d84b0b9c55", count: 8)
            let body = [
                "text/plain": "Invalid API key: \(secret)", "text/csv": "Invalid \(secret);b\n1;2\n",
                "application/json": "[{\"id\": Invalid\(secret)}]",
                "application/xml": "<r><item><id>Invalid key \(secret)</id></item></r>",
            ]
            fixture.server.route("/a") { _ in StubServer.response(200, body[type] ?? "", ["Content-Type": type]) }
            let source = """
                [[sources.s.requests]]
                url = "URL/a"
                headers = { X-Api-Key = "${KEY}" }
                tables = [{ table = "t", element = "item", key = ["id"], columns = { id = { path = "id", type = "integer" } } }]
                """
            let reports = try await fixture.sync(source, environment: ["KEY": secret])
            #expect(reports.first?.outcome == .discarded)
            #expect(try finds([String(secret.prefix(12))], fixture, reports) == [], "\(reports)")
            #expect(type == "application/json" || reports.first?.error?.contains("[secret]") == true, "\(reports)")
        }
    }

    @Test func redactingTakesTimeInProportionToTheText() {
        // Every place begins like a secret: what has been looked at is not looked at again and again.
        let redactor = Redactor(secrets: ["aaaaaaaaaaaaaaab"])
        let text = String(repeating: "a", count: 200_000)
        #expect(redactor.redact(text) == text)
    }

    /// Whether any file of the store, or what is reported, holds one of these.
    private func finds(_ texts: [String], _ fixture: EngineFixture, _ reports: [RunReport]) throws -> [String] {
        let names = try FileManager.default.contentsOfDirectory(atPath: fixture.folder.path)
        let files = try names.filter { $0.hasPrefix("store.sqlite") && !$0.hasSuffix("-work") }.map {
            try Data(contentsOf: URL(fileURLWithPath: fixture.folder.file($0)))
        }
        let said = Data("\(reports)".utf8)
        return texts.filter { text in (files + [said]).contains { $0.range(of: Data(text.utf8)) != nil } }
    }

    @Test func asAValidator() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let password = "pass word 123"
            let basic = Data("me:\(password)".utf8).base64EncodedString()
            let forms = [password, password.percentEncoded, basic, Data(password.utf8).base64EncodedString()]
            for (number, form) in forms.enumerated() {
                fixture.server.route("/a") { _ in
                    StubServer.response(
                        200, EngineFixture.items(["\(number)"]), ["ETag": "\"\(form)\"", "Last-Modified": form])
                }
                let reports = try await fixture.sync(
                    EngineFixture.request("/a", "auth = { basic = { user = \"me\", password = \"${PASSWORD}\" } }"),
                    environment: ["PASSWORD": password])
                #expect(reports.first?.outcome == .committed, "\(reports)")
                #expect(try finds(forms, fixture, reports) == [])
            }
            #expect(try fixture.rows("SELECT etag FROM tributary_request") == ["NULL"])
        }
    }

    /// The header of a date says when, and nothing else; the digits of an address are no secret.
    @Test(arguments: ["${YEAR}", "2026"])
    func aYearInTheAddressIsNoSecret(year: String) async throws {
        try await EngineFixture.with { (fixture) async throws in
            let modified = "Fri, 20 Nov 2026 08:00:00 GMT"
            fixture.server.route("/2026/a") { request in
                request.headers["if-modified-since"] == modified
                    ? [StubServer.head(304, ["Last-Modified": modified])]
                    : StubServer.response(200, EngineFixture.items(["1"]), ["Last-Modified": modified])
            }
            for options in ["", "headers = { X-Version = \"2026\" }"] {
                let request = EngineFixture.request("/\(year)/a", options)
                let first = try await fixture.sync(request, environment: ["YEAR": "2026"])
                #expect(first.map(\.error) == [nil], "\(options) \(first)")
                #expect(try fixture.rows("SELECT last_modified FROM tributary_request") == [modified])
                let second = try await fixture.sync(request, environment: ["YEAR": "2026"])
                #expect(second.map(\.outcome) == [.unchanged], "\(options) \(second)")
            }
        }
    }

    /// The place decides, and not whether the value comes from a variable.
    @Test(arguments: [
        ("auth = { basic = { user = \"me\", password = \"V\" } }", true),
        ("auth = { basic = { user = \"V\", password = \"\" } }", true), ("auth = { bearer = \"V\" }", true),
        ("headers = { X-Api-Key = \"V\" }", true), ("headers = { Authorization = \"Basic V\" }", true),
        ("headers = { User-Agent = \"V\" }", false), ("parameters = { key = \"V\" }", true),
        ("parameters = { appid = \"V\" }", true), ("parameters = { q = \"V\" }", false),
        ("proxy = \"http://me:V@127.0.0.1:1\"", true), ("tls = { key_password = \"V\" }", true),
        ("body = \"<a><Password>V</Password></a>\"", true), ("body = \"<a password='V'/>\"", true),
        ("body = '{\"user\": \"me\", \"password\": \"V\"}'", true), ("body = \"user=me&password=V\"", true),
        ("body = \"<a><name>V</name></a>\"", false), ("body = { json = { login = { secret = \"V\" } } }", true),
        ("body = { xml = { a = { Password = { \"@type\" = \"t\", \".\" = \"V\" } } } }", true),
        ("soap = { name = \"Ask\", header = { Key = { \"@xmlns\" = \"urn:k\", \".\" = \"V\" } } }", true),
        ("soap = { name = \"Ask\", parameters = { shop = \"V\" } }", false),
        ("scope = { token = \"V\" }", false), ("capture = { token = \"/V\" }", false),
    ])
    func aValueIsSecretByItsPlace(options: String, isSecret: Bool) throws {
        for value in ["${VALUE}", "sw0rdfish-1"] {
            let configuration = try Self.read(
                EngineFixture.request("/a", options.replacing("V", with: value)), ["VALUE": "sw0rdfish-1"])
            #expect(configuration.redactor.finds(in: "not sw0rdfish-1 again") == isSecret, "\(value)")
        }
    }

    @Test func tokensKeysAndPasswordsOfTheFileAreSecret() throws {
        let key = String(repeating: "ab", count: 32)
        let hook = "whsec_" + Data(repeating: 7, count: 24).base64EncodedString()
        for (text, secret) in [
            ("[store]\nurl = \"postgresql://me:sw0rdfish-1@db/x\"\n", "sw0rdfish-1"),
            ("[store]\nurl = \"host=db password='sw0rdfish-1'\"\n", "sw0rdfish-1"),
            ("[store]\nencryption_key = \"\(key)\"\n", key),
            ("[daemon]\nlisten = \"127.0.0.1:0\"\ntoken = \"sw0rdfish-of-16-letters\"\n", "sw0rdfish-of-16-letters"),
            ("[hooks.h]\non = [\"failing\"]\npost = \"http://h/?token=sw0rdfish-1\"\n", "sw0rdfish-1"),
            ("[hooks.h]\non = [\"failing\"]\npost = \"http://h/\"\nsecret = \"\(hook)\"\n", hook),
        ] {
            for value in ["${VALUE}", secret] {
                let configuration = try Self.read(text.replacing(secret, with: value), ["VALUE": secret])
                #expect(configuration.redactor.redact("x \(secret) x") == "x [secret] x", "\(text)")
                #expect(!configuration.redactor.finds(in: "me at db, 127.0.0.1"), "\(text)")
            }
        }
    }

    @Test func inAFaultAndInAnAddress() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let password = "p<ss\"w&rd"
            let basic = Data("me:\(password)".utf8).base64EncodedString()
            let encoded = password.percentEncoded.lowercased()
            // Longer than a message is, so that cutting it might cut the secret in two.
            fixture.server.route("/fault") { _ in
                let reason = String(repeating: "x", count: 995) + basic + " p&lt;ss\"w&amp;rd"
                return Self.fault("<faultcode>\(basic)</faultcode><faultstring>\(reason)</faultstring>")
            }
            fixture.server.route("/moved") { _ in
                [StubServer.head(301, ["Location": "/there?p=\(encoded)", "Content-Length": "0"])]
            }
            fixture.server.document("/there", EngineFixture.items(["1"]))
            let auth = "auth = { basic = { user = \"me\", password = \"${PASSWORD}\" } }"
            let reports = try await fixture.sync(
                EngineFixture.request("/fault", "soap = { name = \"Ask\" }\n" + auth, of: "fault")
                    + EngineFixture.request("/moved", auth, of: "moved"), environment: ["PASSWORD": password])
            #expect(reports.map(\.outcome) == [.discarded, .committed], "\(reports)")
            #expect(reports.first?.error?.contains("[secret]") == true)
            #expect(try finds([password, basic, String(basic.prefix(8)), encoded], fixture, reports) == [])
        }
    }

    /// A mistake that is found before the secret is read shows it no more than one that is found later.
    @Test func inAMistakeBeforeTheSecretIsRead() {
        let text = """
            [daemon]
            concurrency = "hunter22"
            \(EngineFixture.request("/a", "auth = { bearer = \"${TOKEN}\" }\nsync = \"hunter22\""))
            """
        #expect {
            try Self.read(text, ["TOKEN": "hunter22"])
        } throws: { error in
            let problems = (error as? ConfigurationError)?.problems ?? []
            return problems.count == 2 && !"\(error)".contains("hunter22")
        }
    }

    @Test func aTokenThatWasIssued() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let token = "issued-at-run-time"
            fixture.server.route("/token") { _ in
                StubServer.response(200, "{\"access_token\": \"\(token)\", \"expires_in\": 1e300}")
            }
            fixture.server.route("/etag") { _ in
                StubServer.response(200, EngineFixture.items(["1"]), ["ETag": "\"\(token)\""])
            }
            fixture.server.route("/fault") { _ in Self.fault("<faultstring>no \(token)</faultstring>") }
            let auth = Self.oauth2 + "\n"
            let reports = try await fixture.sync(
                EngineFixture.request("/etag", auth, of: "etag")
                    + EngineFixture.request("/fault", "soap = { name = \"Ask\" }\n" + auth, of: "fault"),
                environment: ["SECRET": "client secret"])
            #expect(reports.map(\.outcome) == [.committed, .discarded], "\(reports)")
            #expect(reports.last?.error?.contains("[secret]") == true, "\(reports)")
            #expect(try finds([token], fixture, reports) == [])
        }
    }

    @Test func aCapturedTokenIsInNoValidator() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let token = "captured/token"
            fixture.server.route("/login") { _ in StubServer.response(200, "<login><token>\(token)</token></login>") }
            fixture.server.route("/a") { _ in
                StubServer.response(
                    200, EngineFixture.items(["1"]), ["ETag": "\"captured%2Ftoken\"", "Last-Modified": "x \(token)"])
            }
            let login = """
                [[sources.s.requests]]
                url = "URL/login"
                capture = { token = "/login/token" }

                """
            let source = login + EngineFixture.request("/a", "headers = { X-Token = \"${capture:token}\" }")
            let reports = try await fixture.sync(source)
            #expect(reports.first?.outcome == .committed, "\(reports)")
            #expect(try finds([token, "captured%2Ftoken"], fixture, reports) == [])
        }
    }

    /// Services are logged with all that they hold.
    @Test func theTokensOfThePageAreInNoDescription() throws {
        let sources = """
            [daemon]
            listen = "127.0.0.1:0"
            token = "token-of-the-page"
            read_token = "other-token-of-it"
            """
        let configuration = try Self.read(sources, [:])
        let web = try #require(configuration.web)
        for text in ["\(web)", String(reflecting: web)] {
            #expect(!text.contains("token-of-the-page") && !text.contains("other-token-of-it"), "\(text)")
        }
    }

    @Test func whatATokenServerSays() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let secret = "client secret"
            let pair = Data("me:client%20secret".utf8).base64EncodedString()
            fixture.server.route("/token") { _ in
                let description = String(repeating: "x", count: 190) + pair + "\\u001b[2J"
                return StubServer.response(400, "{\"error\": \"\(pair)\", \"error_description\": \"\(description)\"}")
            }
            let reports = try await fixture.sync(
                EngineFixture.request("/a", Self.oauth2), environment: ["SECRET": secret])
            #expect(reports.first?.outcome == .discarded)
            #expect(try finds([secret, pair, String(pair.prefix(8))], fixture, reports) == [])
            #expect(reports.first?.error?.unicodeScalars.contains("\u{1B}") == false)
        }
    }
}
