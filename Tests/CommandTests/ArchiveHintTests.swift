import Foundation
import TestSupport
import Testing

/// What commands say of files that hold several documents, before a sync meets them.
@Suite struct ArchiveHintTests {
    @Test func checkNamesAFolderWhoseFilesNobodyAsksFor() async throws {
        try await withTemporaryFolder { (folder) async throws in
            try FileManager.default.createDirectory(
                atPath: folder.file("data"), withIntermediateDirectories: true)
            let config = folder.file("sources.toml")
            func check(_ address: String, _ options: String = "") async throws -> (status: Int32, error: String) {
                try folder.write(
                    """
                    [sources.s]
                    [[sources.s.requests]]
                    url = "file://\(folder.file(address))"
                    \(options)
                    tables = [{ table = "item", element = "item", key = ["id"], columns = { id = "@id" } }]
                    """, to: "sources.toml")
                let result = try await BuiltProgram("tributary", config: config).run("check")
                return (result.status, result.standardError)
            }
            let bare = try await check("data")
            #expect(bare.status == 78)
            #expect(
                bare.error.contains(
                    "sources.toml:3:7: error: sources.s.requests[1].url: 'file://\(folder.file("data"))'"))
            #expect(bare.error.contains("is a folder\n"), "\(bare.error)")
            #expect(
                bare.error.contains("= help: for the files in it, declare documents = \"**/*.xml\""), "\(bare.error)")
            #expect(try await check("data", "documents = \"*.xml\"").status == 0)
            #expect(try await check("data/*.xml").status == 0)
            #expect(try await check("data/absent.xml").status == 0)
        }
    }

    @Test func inferSaysThatItReadsNoArchives() async throws {
        try await withTemporaryFolder { (folder) async throws in
            try folder.write("PK", to: "feed.tar.gz")
            let result = try await BuiltProgram("tributary", config: folder.file("sources.toml")).run(
                "infer", folder.file("feed.tar.gz"))
            #expect(result.status == 1)
            #expect(
                result.standardError.contains("infer reads no archives: unpack one of its documents, and give it that"))
        }
    }

    /// What a run advises needs a declaration, of which `infer` has none.
    @Test func inferGivesOneAdviceOnAZIPArchive() async throws {
        try await withTemporaryFolder { (folder) async throws in
            // The headers of two empty files (section 4.3.7).
            var archive: [UInt8] = []
            for name in ["a.xml", "b.xml"] {
                archive += [0x50, 0x4B, 3, 4, 20, 0]
                archive += [UInt8](repeating: 0, count: 20)
                archive += [UInt8(name.utf8.count), 0, 0, 0]
                archive += Array(name.utf8)
            }
            for name in ["feed.zip", "download"] {
                try Data(archive).write(to: URL(fileURLWithPath: folder.file(name)))
                let result = try await BuiltProgram("tributary", config: folder.file("sources.toml")).run(
                    "infer", folder.file(name))
                let expected =
                    "the ZIP archive holds more than one file; 'b.xml' is the second; infer reads no archives: unpack one "
                    + "of its documents, and give it that\n"
                #expect(result.status == 1 && result.standardError.hasSuffix(expected), "\(result)")
            }
        }
    }
}
