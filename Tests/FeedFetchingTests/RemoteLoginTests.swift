import FeedModel
import Foundation
import TestEngine
import TestSupport
import Testing
@testable import FeedConfiguration
@testable import FeedFetching
@testable import TributaryEngine

/// Who a file server is, and who it lets in.
@Suite(.timeLimit(.minutes(5))) struct RemoteLoginTests {
    private func login(_ fixture: RemoteFixture, hosts: String? = nil, _ ssh: String) throws -> String {
        try "known_hosts = \"\(hosts ?? fixture.server.knownHosts())\"\n"
            + "auth = { ssh = { user = \"\(FileServer.user)\", \(ssh) } }"
    }

    @Test(.enabled(if: FileServer.hasOpenSSH))
    func anotherHostKeyIsRefused() async throws {
        try await RemoteFixture.with(.openSSH) { fixture in
            try fixture.write(RemoteFixture.document(1, "A"), to: "a.xml")
            let key = "private_key = \"\(fixture.server.privateKey)\""
            let empty = try fixture.engine.folder.write("# none yet\n", to: "empty")
            let scan = "ssh-keyscan -p \(fixture.server.port) 127.0.0.1"
            try await fixture.expectError(
                "the host key of 127.0.0.1:\(fixture.server.port) (ssh-ed25519 SHA256:", "is not in", scan,
                of: try fixture.sources("a.xml", login: try login(fixture, hosts: empty, key)))
            let other = try fixture.server.knownHosts(key: "stranger")
            try await fixture.expectError(
                "is another than the one in", scan,
                of: try fixture.sources("a.xml", login: try login(fixture, hosts: other, key)))
            // Nothing is added to the file.
            #expect(try String(contentsOfFile: empty, encoding: .utf8) == "# none yet\n")
            try await fixture.expectRows(["1|A|"], try fixture.sources("a.xml"))
        }
    }

    @Test(.enabled(if: FileServer.hasOpenSSH))
    func keysAreReadWithTheirPassphrase() async throws {
        try await RemoteFixture.with(.openSSH) { fixture in
            try fixture.write(RemoteFixture.document(1, "A"), to: "a.xml")
            let locked = "private_key = \"\(fixture.server.encryptedKey)\""
            try fixture.engine.folder.write(FileServer.passphrase + "\n", to: "passphrase")
            try await fixture.expectRows(
                ["1|A|"],
                try fixture.sources(
                    "a.xml", login: try login(fixture, locked + ", passphrase = \"${file:passphrase}\"")))
            let refusals = [
                locked, locked + ", passphrase = \"\(String(FileServer.passphrase.reversed()))\"",
                "private_key = \"\(fixture.server.strangersKey)\"",
            ]
            for refusal in refusals {
                try await fixture.expectError(
                    "the server refused the user or their key", "check the request's 'auth'",
                    of: try fixture.sources("a.xml", login: try login(fixture, refusal)))
            }
            let password = "auth = { basic = { user = \"\(FileServer.user)\", password = \"\(FileServer.password)\" } }"
            try await fixture.expectError(
                "the server refused the user or the password",
                of: try fixture.sources(
                    "a.xml", login: "known_hosts = \"\(try fixture.server.knownHosts())\"\n" + password))
        }
    }

    @Test(
        .enabled(if: FileServer.hasProFTPD),
        arguments: [FileServer.Kind.sftp, .ftp, .ftpWithTLS, .ftps])
    func aWrongPasswordIsRefused(_ kind: FileServer.Kind) async throws {
        try await RemoteFixture.with(kind) { fixture in
            try fixture.write(RemoteFixture.document(1, "A"), to: "a.xml")
            let wrong = String(FileServer.password.reversed())
            let sources = try fixture.sources("a.xml").replacing(FileServer.password, with: wrong)
            try await fixture.expectError("the server refused the user or the password", of: sources)
            let error = try await fixture.sync(sources).error ?? ""
            #expect(!error.contains(wrong))
        }
    }

    @Test(.enabled(if: FileServer.hasProFTPD))
    func aPasswordIsNotSentUnencrypted() async throws {
        try await RemoteFixture.with(.ftp) { fixture in
            try fixture.write(RemoteFixture.document(1, "A"), to: "a.xml")
            let sources = try fixture.sources("a.xml")
            try await fixture.expectError(
                "the server offers no TLS", "ftps: or sftp:",
                of: sources.replacing(", cleartext = true", with: ""))
            try await fixture.expectRows(["1|A|"], sources)
        }
    }

    @Test(.enabled(if: FileServer.hasProFTPD), arguments: [FileServer.Kind.ftpWithTLS, .ftps])
    func anUnknownCertificateIsRefused(_ kind: FileServer.Kind) async throws {
        try await RemoteFixture.with(kind) { fixture in
            try fixture.write(RemoteFixture.document(1, "A"), to: "a.xml")
            let sources = try fixture.sources("a.xml")
            let lines = sources.split(separator: "\n", omittingEmptySubsequences: false).filter { !$0.hasPrefix("tls") }
            try await fixture.expectError(
                "no TLS connection", "check the server's certificate", of: lines.joined(separator: "\n"))
            try await fixture.expectRows(["1|A|"], sources)
        }
    }

    @Test(.enabled(if: FileServer.hasProFTPD))
    func serversWithoutFactsListNames() async throws {
        try await RemoteFixture.with(.ftp) { fixture in
            try fixture.write(RemoteFixture.document(1, "A"), to: "in/a.xml")
            try fixture.write(RemoteFixture.document(2, "B"), to: "in/b.xml")
            try fixture.write(RemoteFixture.document(2, "B"), to: "in/deep.xml/b.xml")
            let old: @Sendable ([UInt8]) -> [UInt8] = { bytes in
                Array(String(decoding: bytes, as: UTF8.self).replacing("MLSD", with: "XLSD").utf8)
            }
            try await Relay.with(to: fixture.server.port, [.edit(old), .edit(old)]) { relay in
                let sources = try fixture.sources("in/*.xml", port: relay.port)
                try await fixture.expectRows(["1|A|a.xml", "2|B|b.xml"], sources)
                #expect(try await fixture.sync(sources).outcome == .unchanged)
            }
        }
    }

    /// A file that changes while the folder is read may keep its size.
    @Test(.enabled(if: FileServer.hasProFTPD))
    func aChangedFileOfAFolderIsNoticed() async throws {
        try await RemoteFixture.with(.ftp) { fixture in
            for name in ["a", "b"] {
                try fixture.write(RemoteFixture.document(name == "a" ? 1 : 2, "A"), to: "in/\(name).xml")
            }
            let change: @Sendable ([UInt8]) -> [UInt8] = { bytes in
                if String(decoding: bytes, as: UTF8.self).contains("RETR") {
                    try? fixture.write(RemoteFixture.document(1, "B"), to: "in/a.xml", minutes: 30)
                }
                return bytes
            }
            try await Relay.with(to: fixture.server.port, [.edit(change), .edit(change)]) { relay in
                let error = try await fixture.sync(try fixture.sources("in/*.xml", port: relay.port)).error ?? ""
                #expect(error.contains("'a.xml' in the folder changed while the folder was read"), "\(error)")
            }
            try await fixture.expectRows(["1|B|a.xml", "2|A|b.xml"], try fixture.sources("in/*.xml"))
        }
    }

    /// A name that stands for a public address while it is looked at, and for this machine when it is connected.
    @Test(.enabled(if: FileServer.hasOpenSSH))
    func whatAResponseNamesLeadsToNoPrivateAddress() async throws {
        try await RemoteFixture.with(.openSSH) { fixture in
            try fixture.write(RemoteFixture.document(1, "A"), to: "a.xml")
            let configuration = try fixture.engine.configuration(try fixture.sources("a.xml"))
            var request = try #require(configuration[source: "s"]?.requests.first)
            request.provenance = .unknown("a row")
            let guarded = try PreparedRequest(request)
            await #expect {
                try await RemoteFetcher(now: { Date() }).fetch(
                    guarded, ExchangeContext(), validators: Validators(), movedTo: nil)
            } throws: { "\($0)".contains("loopback") && "\($0)".contains("is refused") }
            let address = try RemoteAddress(request.url.value)
            let local = try #require(IPAddress(literal: "127.0.0.1"))
            let connection = try CurlConnection(guarded, address, [local], .unknown("a row"))
            #expect(throws: AddressGuard.Refusal.self) {
                try connection.run(.status, of: address.url.absoluteString, check: {})
            }
            request.allowsPrivate = true
            let exchange = try await RemoteFetcher(now: { Date() }).fetch(
                try PreparedRequest(request), ExchangeContext(), validators: Validators(), movedTo: nil)
            #expect(exchange.response.status == 200 && exchange.from == local)
        }
    }
}
