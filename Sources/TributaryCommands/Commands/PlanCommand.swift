import ArgumentParser
import FeedDeclarations
import FeedModel
import FeedStores
import Foundation
import GRDB
import Logging
import Synchronization
import TributaryEngine
import TributaryStores

struct PlanCommand: ProgramCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan", abstract: "Show what a refresh of a source would change, and commit nothing.",
        discussion: """
            Fetches and parses as `sync` does and takes the merge back. Where tables would be created first, it works on a copy \
            of the store. Exit status: 0 without a difference, 2 with one, 1 where the run would be discarded.
            """)

    @OptionGroup var options: GlobalOptions

    @Argument(help: "The source.")
    var source: String

    @Option(
        name: .long, parsing: .singleValue,
        help: ArgumentHelp("Read this file instead of what the request would be answered.", valueName: "key=file"))
    var body: [String] = []

    @Flag(name: .long, help: "Ignore validators: fetch and parse everything.")
    var full = false

    @Option(name: .long, help: "Changes to show of a table and kind; 0 for all. Counts are always of all.")
    var limit = 100

    @Flag(name: .long, help: "Print a JSON object.")
    var json = false

    func run(_ program: Program) async throws {
        var configuration = try program.configuration(options)
        try SyncCommand.check([source], in: configuration)
        guard let declaration = configuration[source: source] else { return }
        let bodies = try files(for: declaration)
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "tributary-plan-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        if try isPrepared(declaration, configuration, program) {
            configuration.schemaPath = nil
            configuration.schemaAfterPath = nil
        } else {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let copy = folder.appendingPathComponent("store.sqlite").path
            if try configuration.hasStore() { try configuration.openExistingStore()?.copy(nil, to: copy) }
            configuration.store = .file(copy)
        }
        let report = Mutex(PlanReport(limit: limit))
        let plan: StackPlan
        do {
            let service = try program.service(
                configuration, logger: Logger(label: "tributary") { _ in ConsoleLogHandler() })
            plan = try await service.plan(declaration, bodies: bodies, ignoresValidators: full) { change in
                report.withLock { $0.add(change) }
            }
        } catch let error as StoreError {
            throw error
        } catch {
            throw Failure.failed("\(source): the run would be discarded: \(configuration.redactor.redact("\(error)"))")
        }
        let finished = report.withLock { $0 }
        if json {
            Terminal.print(try JSONOutput.line(PlanOutput(source: source, plan: plan, report: finished)))
        } else {
            for line in finished.lines(plan, on: Terminal()) { Terminal.print(line) }
        }
        if plan.differs { throw ExitCode(2) }
    }

    /// Returns the URLs of the files that `--body` gives, by the requests' keys.
    private func files(for source: SourceDeclaration) throws -> [String: String] {
        var files: [String: String] = [:]
        for option in body {
            let parts = option.split(separator: "=", maxSplits: 1).map(String.init)
            let keys = source.requests.map(\.key)
            guard parts.count == 2, keys.contains(parts[0]) else {
                throw Failure.usage(
                    "--body \(option): write KEY=FILE, KEY being a request of '\(source.name)': \(keys.joined(separator: ", "))"
                )
            }
            guard FileManager.default.isReadableFile(atPath: parts[1]) else {
                throw Failure.usage("--body \(option): the file \(parts[1]) cannot be read")
            }
            files[parts[0]] = URL(fileURLWithPath: parts[1]).absoluteURL.absoluteString
        }
        return files
    }

    /// Returns true if the store exists, with every table that the source writes.
    private func isPrepared(
        _ source: SourceDeclaration, _ configuration: TributaryConfiguration, _ program: Program
    ) throws -> Bool {
        guard try configuration.hasStore(), let store = try configuration.openExistingStore() else { return false }
        defer { try? store.close() }
        return try source.requests.allSatisfy { try $0.isPrepared(in: store, parsers: program.parsers) }
    }
}
