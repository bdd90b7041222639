import Foundation
import TestSupport
import Testing

/// Every file that the program makes beside a store has the mode of the store, or a stricter one.
@Suite struct FileModeTests {
    private func mode(_ path: String) throws -> UInt16 {
        let found = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber
        return try #require(found).uint16Value & 0o777
    }

    /// Expects that nobody can read or write a file beside the store who cannot do that with the store. What is in a folder can
    /// be reached only by those who can enter the folder.
    private func expectNoWiderFile(
        in folder: String, than mode: UInt16, reachedBy users: UInt16 = 0o777, after command: String
    ) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) where !Self.givenFiles.contains(name) {
            let path = folder + "/" + name
            var isFolder: ObjCBool = false
            // SQLite removes its files when the last connection ends.
            guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else { continue }
            let own = try self.mode(path)
            guard isFolder.boolValue else {
                #expect(own & users & ~mode == 0, "\(command): \(path) has the mode \(String(own, radix: 8))")
                continue
            }
            // x for each class of users who may enter.
            let entered = (own & 0o111) * 7 & users
            try expectNoWiderFile(in: path, than: mode, reachedBy: entered, after: command)
        }
    }

    private static let givenFiles: Set<String> = ["sources.toml", "a.xml"]

    @Test(arguments: [0o600, 0o640, 0o660] as [UInt16]) func filesBesideAStoreHaveItsMode(mode: UInt16) async throws {
        try await withTemporaryFolder { (folder) async throws in
            func load(_ count: Int) throws {
                let records = (0..<count).map { "<i id='\($0)'><n>\(String(repeating: "x", count: 500))</n></i>" }
                try folder.write("<r>\(records.joined())</r>", to: "a.xml")
            }
            try folder.write(
                """
                [store]
                path = "store.sqlite"
                [sources.s]
                keep_bodies = 2
                keep_history = true
                [[sources.s.requests]]
                url = "file://\(folder.file("a.xml"))"
                tables = [{ table = "t", element = "i", key = ["id"], sync = "mirror", columns = { id = "@id", n = "n" } }]
                """, to: "sources.toml")
            let program = BuiltProgram("tributary", config: folder.file("sources.toml"))
            let store = folder.file("store.sqlite")
            try load(1)
            #expect(try await program.run("sync").status == 0)
            chmod(store, mode_t(mode))
            // Enough for a scratch file.
            try load(12_000)
            let copy = folder.file("copy.sqlite")
            let commands = [
                ["sync"], ["backup", copy], ["restore", copy, "--yes"], ["restore", copy, "--yes"], ["plan"],
                ["status"],
                ["sync", "--full"], ["undo", "s", "--yes"], ["resume", "s"], ["replay", "s", "--yes"], ["pause", "s"],
                ["resume", "s"],
                ["backup", copy, "--replace"], ["purge", "s", "--yes"],
            ]
            for command in commands {
                let output = try await program.start(command).output()
                #expect([0, 2].contains(output.status), "\(command): \(output)")
                try expectNoWiderFile(in: folder.path, than: mode, after: "\(command)")
                #expect(try self.mode(store) == mode, "\(command)")
            }
            // Two restores within a second keep two stores.
            let kept = try FileManager.default.contentsOfDirectory(atPath: folder.path)
                .filter { $0.contains(".before-") && !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") }
            #expect(kept.count == 2, "\(kept)")
            let daemon = try program.start(["run", "--log-level", "error"])
            while try await program.run("refresh").status != 0 { await Task.yield() }
            try expectNoWiderFile(in: folder.path, than: mode, after: "run")
            daemon.signal(SIGTERM)
            _ = await daemon.end()
            try expectNoWiderFile(in: folder.path, than: mode, after: "the end of run")
        }
    }
}
