import FeedConfiguration
import FeedModel
import FeedStaging
import FeedStores
import SQLiteStore
import Foundation
import TestEngine
import TestSupport
import Testing
@testable import FeedFetching
@testable import TributaryEngine

/// Only regular files are read, and nothing else is waited for.
@Suite struct RegularFileTests {
    private static func makeFIFO(in folder: TemporaryFolder) throws -> String {
        let path = folder.file("fifo")
        guard mkfifo(path, 0o600) == 0 else { throw POSIXError(.EIO) }
        return path
    }

    /// A socket that somebody listens at.
    private static func withSocket(in folder: TemporaryFolder, _ body: (String) async throws -> Void) async throws {
        let path = folder.file("s")
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
        let isBound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        #expect(isBound)
        try await body(path)
    }

    @Test func aFeedFromWhatIsNoRegularFile() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let fifo = try Self.makeFIFO(in: fixture.folder)
            try await Self.withSocket(in: fixture.folder) { (socket) async throws in
                let paths = [
                    fifo, socket, fixture.folder.path, "/dev/zero", "/dev/null", "/proc/self/mem", "/proc/kmsg",
                ]
                for path in paths {
                    let source = "[[sources.s.requests]]\nurl = \"file://\(path)\"\nparser = \"ItemsParser\"\n"
                    let error = try await fixture.sync(source).first?.error ?? ""
                    #expect(error.contains("is not a regular file"), "\(path): \(error)")
                    await #expect(throws: FetchError.self) {
                        _ = try await Inference(of: path).proposal(.init())
                    }
                }
            }
        }
    }

    @Test(arguments: [
        "headers = { X = \"${file:FIFO}\" }", "body = { file = \"FIFO\" }", "tls = { ca = \"FIFO\" }",
        "tls = { certificate = \"FIFO\", key = \"FIFO\" }",
    ])
    func theConfigurationReadsNothingElse(options: String) async throws {
        try await EngineFixture.with { (fixture) async throws in
            let fifo = try Self.makeFIFO(in: fixture.folder)
            #expect {
                try fixture.configuration(
                    EngineFixture.request("/a", options.replacingOccurrences(of: "FIFO", with: fifo)))
            } throws: { error in
                "\(error)".contains("is not a regular file")
            }
        }
    }

    @Test func aSchemaThatIsNoFile() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let configuration = try fixture.configuration(EngineFixture.request("/a"))
            try FileManager.default.removeItem(atPath: fixture.folder.file("schema.sql"))
            #expect(mkfifo(fixture.folder.file("schema.sql"), 0o600) == 0)
            #expect {
                _ = try configuration.schema()
            } throws: { error in
                "\(error)".contains("is not a regular file")
            }
        }
    }

    /// A file that others write while it is read may have a part of one version and a part of another.
    @Test(arguments: [0, 300_000, 8_000_000, 9_000_000]) func aFileThatChangesWhileItIsRead(size: Int) async throws {
        try await EngineFixture.with { (fixture) async throws in
            let path = fixture.folder.file("feed.csv")
            // More than is read ahead of the first piece.
            try Data(repeating: UInt8(ascii: "a"), count: 8_000_000).write(to: URL(filePath: path))
            let source = "[[sources.s.requests]]\nurl = \"file://\(path)\"\nparser = \"ItemsParser\"\n"
            let request = try #require(try fixture.configuration(source)[source: "s"]?.requests.first)
            let exchange = try await FileFetcher { Date() }
                .fetch(request, ExchangeContext(), validators: Validators(), movedTo: nil)
            var read = 0
            func readAll() async throws {
                try await exchange.forEachPiece { piece in
                    if read == 0 { try change() }
                    read += piece.count
                }
            }
            func change() throws {
                guard size == 8_000_000 else { return try #require(truncate(path, size) == 0) }
                let handle = try FileHandle(forUpdating: URL(filePath: path))
                try handle.write(contentsOf: Data("b".utf8))
                try handle.close()
            }
            let error = await #expect(throws: FetchError.self) { try await readAll() }
            let expected = size < 8_000_000 ? "bytes shorter while it was read" : "the file changed while it was read"
            #expect(error?.description.contains(expected) == true, "\(error as Any)")
        }
    }
}
