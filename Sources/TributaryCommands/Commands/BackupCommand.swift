import ArgumentParser
import FeedConfiguration
import Foundation
import SQLiteStore
import TributaryEngine

struct BackupCommand: ProgramCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Copy the store to a file while other programs read and write it.",
        discussion: """
            The copy is a snapshot, made by SQLite's backup interface. The file appears when the copy is complete. \
            An existing file is replaced only with --replace.

            Example:
              tributary backup monday.sqlite
            """)

    @OptionGroup var options: GlobalOptions

    @Argument(help: "The file to write.", completion: .file())
    var file: String

    @Flag(name: .long, help: "Replace an existing file.")
    var replace = false

    @OptionGroup var output: JSONOption

    func run(_ program: Program) async throws {
        let configuration = try program.storeConfiguration(options)
        guard case .file(let path) = configuration.store else {
            throw Failure.usage(
                "the store is on a server, whose own tools copy it: pg_dump --format=custom --file='\(file)' \"$URL\", where "
                    + "URL is the connection string of 'url' in [store]; pg_restore puts it back")
        }
        guard FileManager.default.fileExists(atPath: path) else {
            throw Failure.usage(configuration.noStore)
        }
        guard replace || !FileManager.default.fileExists(atPath: file) else {
            throw Failure.usage("the file \(file) exists; give another name, or --replace")
        }
        let store = try SQLiteStore(readingAt: path)
        defer { try? store.close() }
        guard !store.isOwn(file) else {
            throw Failure.usage("\(file) is the store's own file; a copy needs a name of its own")
        }
        let bytes = try store.backUp(to: file, replacing: replace)
        try output.show(["store": path, "file": file, "bytes": bytes] as JSONObject) {
            ["\(file): \(Figures.bytes(bytes))"]
        }
    }
}
