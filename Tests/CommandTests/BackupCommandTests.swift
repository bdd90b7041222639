import Foundation
import TestSupport
import Testing

/// Copies of a store that is in use.
@Suite struct BackupCommandTests {
    private func withStore(_ body: (TemporaryFolder, BuiltProgram) async throws -> Void) async throws {
        try await withTemporaryFolder { (folder) async throws in
            let program = BuiltProgram("tributary", config: folder.file("sources.toml"))
            try folder.write("<r><i id='1'/><i id='2'/></r>", to: "a.xml")
            try folder.write(
                """
                [store]
                path = "store.sqlite"
                [[sources.s.requests]]
                url = "file://\(folder.file("a.xml"))"
                tables = [{ table = "t", element = "i", key = ["id"], columns = { id = "@id" } }]
                """, to: "sources.toml")
            #expect(try await program.run("sync").status == 0)
            try await body(folder, program)
        }
    }

    @Test func aCopyIsWholeAndReplacesOnlyWhatItMay() async throws {
        try await withStore { (folder, program) async throws in
            let copy = folder.file("copy.sqlite")
            #expect(try await program.run("backup", copy).status == 0)
            #expect(try dumpRows(path: copy) == dumpRows(path: folder.file("store.sqlite")))
            #expect(!FileManager.default.fileExists(atPath: copy + "-wal"))
            #expect(try await program.run("backup", copy).status == 64)
            #expect(try await program.run("backup", copy, "--replace").status == 0)
            try Data().write(to: URL(fileURLWithPath: copy + "-wal"))
            let stale = try await program.run("backup", copy, "--replace")
            #expect(stale.status == 1 && stale.standardError.contains("is beside it"))
            let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            #expect(!files.contains { $0.contains("partial") })
            let refused = try await program.run("restore", folder.path, "--yes")
            #expect(refused.status == 1 && refused.standardError.contains("it is a folder"), "\(refused)")
        }
    }

    @Test(arguments: ["store.sqlite", "./store.sqlite", "store.sqlite-wal", "store.sqlite-lock", "link.sqlite"])
    func theStoresOwnFilesAreLeftAlone(name: String) async throws {
        try await withStore { (folder, program) async throws in
            try FileManager.default.createSymbolicLink(
                atPath: folder.file("link.sqlite"), withDestinationPath: folder.file("store.sqlite"))
            let before = try dumpRows(path: folder.file("store.sqlite"))
            let output = try await program.run("backup", folder.path + "/" + name, "--replace")
            #expect(output.status == 64 && output.standardError.contains("own file"), "\(output)")
            #expect(try dumpRows(path: folder.file("store.sqlite")) == before)
        }
    }

    @Test func whatIsNoFileIsNotReplaced() async throws {
        try await withStore { (folder, program) async throws in
            let fifo = folder.file("fifo")
            #expect(mkfifo(fifo, 0o600) == 0)
            for target in [fifo, folder.path] {
                let output = try await program.run("backup", target, "--replace")
                #expect(output.status == 1 && output.standardError.contains("not a regular file"), "\(output)")
            }
        }
    }
}
