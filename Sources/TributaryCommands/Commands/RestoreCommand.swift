import ArgumentParser
import FeedConfiguration
import FeedStores
import Foundation
import SQLiteStore
import TributaryEngine

struct RestoreCommand: ProgramCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Replace the store with a copy made by 'backup'.",
        discussion: """
            First checks that the copy is complete, and of this version or an earlier one. Stop daemons and runs \
            first. The old store is kept in the same folder; the command prints its name. It can also be restored.

            Example:
              tributary restore monday.sqlite
            """)

    @OptionGroup var options: GlobalOptions
    @OptionGroup var confirmation: ConfirmationOptions

    @Argument(help: "The file that 'backup' wrote.", completion: .file())
    var file: String

    @OptionGroup var output: JSONOption

    func run(_ program: Program) async throws {
        let configuration = try program.configuration(options)
        guard case .file(let path) = configuration.store, let daemon = DaemonFolder(configuration) else {
            throw Failure.usage("the store is on a server; its own tools put a copy back, as pg_restore and psql do")
        }
        let copy = URL(fileURLWithPath: file).standardizedFileURL.path
        guard FileManager.default.fileExists(atPath: copy) else {
            throw Failure.usage("the file \(file) does not exist")
        }
        // Links to the store stay, and what SQLite keeps beside it is beside the file itself.
        let store = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        guard URL(fileURLWithPath: copy).resolvingSymlinksInPath().path != store else {
            throw Failure.usage("\(file) is the store itself")
        }
        let checked = try StoreCopy(path: copy, registerMigrations: program.registerMigrations)
        let presence = try daemon.claim(for: "restore")
        defer { presence.release() }
        let aside = FileManager.default.fileExists(atPath: store) ? Self.free(store + ".before-" + Self.time()) : nil
        if !confirmation.yes { try ask(copy, store: store, aside: aside) }
        try await whileUnused(path, file: store, configuration) {
            try await SignalCleanUp.removing(StoreCopy.temporaryPath(beside: store)) {
                try checked.replace(store: store, aside: aside ?? store + ".aside")
            }
        }
        try output.show(["store": path, "file": file, "aside": aside] as JSONObject) {
            ["\(path) is the copy \(file) now\(aside.map { "; the former store is \($0)" } ?? "")"]
        }
    }

    /// Shows which file would take the store's place, and asks.
    ///
    /// - Parameter aside: where the old store would be; nil where there is none.
    private func ask(_ copy: String, store: String, aside: String?) throws {
        let manager = FileManager.default
        func facts(_ path: String) -> String {
            let attributes = try? manager.attributesOfItem(atPath: path)
            let size = (attributes?[.size] as? Int).map(Figures.bytes) ?? "of unknown size"
            let date = (attributes?[.modificationDate] as? Date)?.formatted(.iso8601) ?? "an unknown time"
            return "\(path) (\(size), of \(date))"
        }
        let line =
            aside.map { aside in
                "restore will replace \(facts(store)) with \(facts(copy)); the old store is kept beside it as "
                    + URL(fileURLWithPath: aside).lastPathComponent
            } ?? "restore will create \(store) from \(facts(copy))"
        try confirmation.requireAnswer(json: output.json, shown: [line])
        try output.show(["store": store, "file": file]) { Terminal().wrapped(line, after: "", indent: 4) }
        try confirmation.ask("Replace the store?")
    }

    /// Replaces the present store while no source is run, with all of its commits in its file.
    ///
    /// - Parameters:
    ///   - path: the store's path, as it is configured.
    ///   - file: the same without symbolic links.
    /// - Throws: ``Failure`` or `StoreError` where somebody uses it, or where it cannot be opened.
    private func whileUnused(
        _ path: String, file: String, _ configuration: TributaryConfiguration, _ replace: () async throws -> Void
    ) async throws {
        guard FileManager.default.fileExists(atPath: file) else { return try await replace() }
        let (claims, isDamaged) = try SQLiteStore.claim(
            replaced: path, declared: Set(configuration.sources.map(\.name)))
        defer { for claim in claims { claim.unlock() } }
        // What is beside a damaged file goes along with it.
        if !isDamaged {
            try SQLiteStore.bringIntoFile(path)
            if let log = ["-wal", "-journal"].first(where: { FileManager.default.fileExists(atPath: file + $0) }) {
                throw Failure.failed("\(file)\(log) shows that another program has the store open; end it first")
            }
        }
        try await replace()
    }

    /// Returns a name, with a number behind it if an earlier restore of the same second has taken it.
    private static func free(_ path: String) -> String {
        var (name, number) = (path, 1)
        while FileManager.default.fileExists(atPath: name) {
            number += 1
            name = "\(path)-\(number)"
        }
        return name
    }

    private static func time() -> String {
        Date().formatted(
            Date.ISO8601FormatStyle(dateSeparator: .omitted, timeSeparator: .omitted, timeZone: .gmt))
    }
}
