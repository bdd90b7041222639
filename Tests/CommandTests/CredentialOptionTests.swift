import Foundation
import TestSupport
import Testing

/// `--header` and `--bearer` of `infer` and `init`: they are sent, and no secret is in the proposal.
@Suite(.timeLimit(.minutes(5))) struct CredentialOptionTests {
    private struct Fixture {
        let folder: TemporaryFolder
        let server: StubServer

        var file: String { folder.file("sources.toml") }
        var program: BuiltProgram {
            BuiltProgram(
                "tributary", config: file, environment: ["KEY": "key-of-the-shop", "TOKEN": "token-of-the-shop"])
        }

        func run(_ command: String...) async throws -> BuiltProgram.Output {
            let output = try await program.start(command).output()
            #expect(!(output.standardOutput + output.standardError).contains("-of-the-shop"), "\(output)")
            return output
        }
    }

    private func with(_ body: (Fixture) async throws -> Void) async throws {
        try await withStubServer { server in
            try await withTemporaryFolder { folder in
                server.route("/prices.json") { request in
                    let isKnown = request.headers["x-api-key"] == "key-of-the-shop"
                    guard isKnown, request.headers["authorization"] == "Bearer token-of-the-shop" else {
                        return StubServer.response(403, "key-of-the-shop is wanted")
                    }
                    return StubServer.response(
                        200, #"{"prices": [{"id": "a1", "price": 12}, {"id": "a2", "price": 13}]}"#,
                        ["Content-Type": "application/json"])
                }
                try await body(Fixture(folder: folder, server: server))
            }
        }
    }

    @Test func variablesAreProposedAsTheyWereWritten() async throws {
        try await with { (fixture) async throws in
            let output = try await fixture.run(
                "infer", fixture.server.url + "/prices.json", "-H", "X-Api-Key: ${KEY}", "--header",
                "Accept-Language: de", "--bearer", "${TOKEN}")
            #expect(output.status == 0, "\(output)")
            let text = output.standardOutput
            #expect(text.contains("\nheaders = { Accept-Language = \"de\", X-Api-Key = \"${KEY}\" }\n"), "\(text)")
            #expect(text.contains("\nauth = { bearer = \"${TOKEN}\" }\n") && !text.contains("environment"), "\(text)")
            try fixture.folder.write(text, to: "sources.toml")
            let sync = try await fixture.run("sync")
            #expect(sync.status == 0 && sync.standardOutput.contains("2 inserted"), "\(sync)")
        }
    }

    @Test func aVariableStandsForASecretThatIsGivenItself() async throws {
        try await with { (fixture) async throws in
            let output = try await fixture.run(
                "infer", fixture.server.url + "/prices.json", "--header", "X-Api-Key: key-of-the-shop", "--bearer",
                "token-of-the-shop")
            #expect(output.status == 0, "\(output)")
            let text = output.standardOutput
            for line in [
                "# Set the environment variable X_API_KEY to the secret that was given for it.",
                "# Set the environment variable TOKEN to the secret that was given for it.",
                "headers = { X-Api-Key = \"${X_API_KEY}\" }", "auth = { bearer = \"${TOKEN}\" }",
            ] {
                #expect(text.contains("\n\(line)\n"), "\(text)")
            }
            let made = try await fixture.run(
                "init", fixture.server.url + "/prices.json", "--header", "X-Api-Key: key-of-the-shop", "--bearer",
                "${TOKEN}")
            #expect(
                made.status == 0
                    && made.standardOutput.hasSuffix(
                        "Next: set the environment variable X_API_KEY to the secret that was given, then run "
                            + "`tributary plan`.\n"),
                "\(made)")
            let file = try String(contentsOfFile: fixture.file, encoding: .utf8)
            #expect(file.contains("${X_API_KEY}") && !file.contains("-of-the-shop"), "\(file)")
        }
    }

    @Test func initPlansWithVariables() async throws {
        try await with { (fixture) async throws in
            let made = try await fixture.run(
                "init", fixture.server.url + "/prices.json", "--header", "X-Api-Key: ${KEY}", "--bearer", "${TOKEN}")
            #expect(made.status == 0 && made.standardOutput.contains("will insert 2, update 0, delete 0"), "\(made)")
        }
    }

    @Test func mistakesShowNoSecret() async throws {
        try await with { (fixture) async throws in
            let address = fixture.server.url + "/prices.json"
            let wrong: [(arguments: [String], status: Int32, message: String)] = [
                (["--header", "X-Api-Key: wrong-of-the-shop"], 1, "403"),
                (["--header", "key-of-the-shop"], 64, "a header has no colon; write \"NAME: VALUE\""),
                (["--header", "X-Api-Key: ${NONE}"], 64, "the environment variable 'NONE' is not set"),
                (["--header", "A: 1", "--header", "a: 2"], 64, "'a' is given twice"),
                (["--header", "Authorization: Basic eA==", "--bearer", "x"], 64, "give one of them"),
                (["--bearer", "${capture:token}"], 64, "write ${NAME}"),
            ]
            for (arguments, status, message) in wrong {
                let output = try await fixture.program.start(["infer", address] + arguments).output()
                #expect(output.status == status && output.standardError.contains(message), "\(arguments): \(output)")
                #expect(!output.standardError.contains("-of-the-shop"), "\(output)")
            }
            try fixture.folder.write("<r><a id='1'/><a id='2'/></r>", to: "a.xml")
            let file = try await fixture.run("infer", fixture.folder.file("a.xml"), "--bearer", "${TOKEN}")
            #expect(file.status == 64 && file.standardError.contains("http: or https: address"), "\(file)")
        }
    }
}
