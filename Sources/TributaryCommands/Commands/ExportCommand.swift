import ArgumentParser
import FeedConfiguration
import FeedExporting
import FeedStores
import Foundation
import TributaryStores

struct ExportCommand: ProgramCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Write a source's rows as XML, in the structure of the request's mapping.",
        discussion: """
            The document goes to standard output. It is first imported into an empty store in the temporary folder. \
            If this import does not give the same rows, nothing is written, and the error names the row, the column \
            and the reason.

            Example:
              tributary export shop > shop.xml
            """)

    @OptionGroup var options: GlobalOptions

    @Argument(help: "The source.", completion: DeclaredNames.sources)
    var source: String

    @Argument(help: "The request's key; optional if only one request has a mapping.")
    var request: String?

    @Flag(help: "Write the document without checking that it can be imported again.")
    var unchecked = false

    func run(_ program: Program) async throws {
        let configuration = try program.configuration(options)
        let declaration = try SyncCommand.declared(source, in: configuration, mayBeOff: true)
        let request = try mapped(declaration)
        try await PrivateFolder.with("export") { folder in
            try export(request, configuration, URL(fileURLWithPath: folder))
        }
    }

    private func export(_ request: RequestDeclaration, _ configuration: TributaryConfiguration, _ folder: URL) throws {
        guard
            let exporter = MappingExporter(
                request, storePath: try file(of: request, configuration, folder), configuration: configuration,
                folder: folder, makeStore: TributaryConfiguration.makeTrialStore)
        else {
            throw Failure.usage(
                "request '\(request.key)' of source '\(source)' has no mapping ('tables') to export by")
        }
        do {
            try exporter.export(isTried: !unchecked) { try Terminal.write(Array($0)) }
        } catch let error as ExportError {
            throw Failure.failed("\(source), request '\(exporter.request.key)': \(error)")
        }
    }

    /// Returns the request to export.
    private func mapped(_ source: SourceDeclaration) throws -> RequestDeclaration {
        let mapped = source.requests.filter { MappingExporter.tables(of: $0) != nil }
        let chosen = request.map { key in source.requests.filter { $0.key == key } } ?? mapped
        guard chosen.count == 1 else {
            let keys = mapped.map(\.key).joined(separator: ", ")
            if let request {
                throw Failure.usage(
                    "source '\(source.name)' has no request '\(request)'; with a mapping it has: \(keys)")
            }
            throw Failure.usage(
                mapped.isEmpty
                    ? "no request of source '\(source.name)' has a mapping ('tables') to export by"
                    : "name one of the requests of source '\(source.name)': \(keys)")
        }
        return chosen[0]
    }

    /// Returns an SQLite file with the request's tables: the store itself, or a copy of them in a folder.
    private func file(
        of request: RequestDeclaration, _ configuration: TributaryConfiguration, _ folder: URL
    ) throws -> String {
        if case .file(let path) = configuration.store { return path }
        let path = folder.appendingPathComponent("store.sqlite").path
        guard let store = try configuration.openExistingStore() else { return path }
        defer { try? store.close() }
        try store.copy(MappingExporter.tables(of: request) ?? [], to: path)
        return path
    }
}
