import FeedModel
import Foundation
import TestEngine
import TestSupport
import Testing
@testable import TributaryEngine

/// A store, and a file server whose files a source reads.
struct RemoteFixture {
    static let rows = "SELECT sku, name, coalesce(member, '') FROM article ORDER BY sku"

    let engine: EngineFixture
    let server: FileServer
    let kind: FileServer.Kind

    static func with(_ kind: FileServer.Kind, _ body: (RemoteFixture) async throws -> Void) async throws {
        try await FileServer.with(kind) { server in
            try await EngineFixture.with { engine in
                try await body(RemoteFixture(engine: engine, server: server, kind: kind))
            }
        }
    }

    /// - Parameter minutes: how long ago the file changed. A file that changed just now has no validator.
    func write(_ text: String, to name: String, minutes: Double = 60) throws {
        try write(Array(text.utf8), to: name, minutes: minutes)
    }

    func write(_ bytes: [UInt8], to name: String, minutes: Double = 60) throws {
        let path = server.folder.file(name)
        try FileManager.default.createDirectory(
            atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
        try Data(bytes).write(to: URL(filePath: path))
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSinceNow: -60 * minutes)], ofItemAtPath: path)
    }

    func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: server.folder.file(name)) }

    /// The address of the server's folder, and of a file in it.
    func address(_ name: String, port: Int? = nil) -> String {
        let scheme =
            switch kind {
            case .openSSH, .sftp: "sftp"
            case .ftps: "ftps"
            case .ftp, .ftpWithTLS: "ftp"
            }
        // An FTP server's paths begin at the user's folder.
        let path = scheme == "sftp" ? server.folder.path : ""
        return "\(scheme)://127.0.0.1:\(port ?? server.port)\(path)/\(name)"
    }

    /// The keys with which the server lets the user in.
    func login(port: Int? = nil) throws -> String {
        let password = "auth = { basic = { user = \"me\", password = \"\(FileServer.password)\" } }"
        let hosts = { try "known_hosts = \"\(server.knownHosts(port: port))\"\n" }
        return switch kind {
        case .openSSH:
            try hosts()
                + "auth = { ssh = { user = \"\(FileServer.user)\", private_key = \"\(server.privateKey)\" } }"
        case .sftp: try hosts() + password
        case .ftp: password.replacing(" } }", with: ", cleartext = true } }")
        case .ftpWithTLS, .ftps:
            try password + "\ntls = { ca = \"\(engine.folder.write(TestCertificate.certificate, to: "ca.pem"))\" }"
        }
    }

    func sources(
        _ name: String, port: Int? = nil, login: String? = nil, options: String = ""
    ) throws -> String {
        try """
        [[sources.s.requests]]
        url = "\(address(name, port: port))"
        sync = "mirror"
        max_deleted = "100%"
        \(login ?? self.login(port: port))
        \(options)
        """ + DocumentsTests.tables
    }

    func sync(_ sources: String) async throws -> RunReport { try #require(await engine.sync(sources).first) }

    /// Expects that a run commits, and the rows after it.
    func expectRows(
        _ rows: [String], _ sources: String, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let report = try await sync(sources)
        #expect(report.outcome == .committed, "\(report.error ?? "")", sourceLocation: sourceLocation)
        #expect(try engine.rows(RemoteFixture.rows) == rows, sourceLocation: sourceLocation)
    }

    /// Expects that a run is discarded, with this in its error, and that the error tells no secret.
    func expectError(
        _ parts: String..., of sources: String, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        // Before the first commit there is no table.
        let before = (try? engine.rows(RemoteFixture.rows)) ?? []
        let report = try await sync(sources)
        #expect(report.outcome == .discarded, sourceLocation: sourceLocation)
        let error = report.error ?? ""
        for part in parts { #expect(error.contains(part), "\(error)", sourceLocation: sourceLocation) }
        #expect(
            !error.contains(FileServer.password) && !error.contains(FileServer.passphrase), "\(error)",
            sourceLocation: sourceLocation)
        #expect(((try? engine.rows(RemoteFixture.rows)) ?? []) == before, sourceLocation: sourceLocation)
    }

    static func document(_ sku: Int, _ name: String) -> String { "<l><a sku='\(sku)' name='\(name)'/></l>" }

    /// A document of many records, and the rows that it gives.
    static func large(_ count: Int) -> (text: String, rows: [String]) {
        let name = String(repeating: "n", count: 60)
        return (
            "<l>" + (0..<count).map { "<a sku='\($0)' name='\(name)'/>" }.joined() + "</l>",
            (0..<count).map { "\($0)|\(name)|" }
        )
    }
}
