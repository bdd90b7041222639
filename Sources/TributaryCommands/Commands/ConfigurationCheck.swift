import FeedConfiguration
import FeedModel
import FeedParsing
import FeedStaging
import FeedStores
import Foundation
import SQLiteStore
import TributaryEngine
import TributaryStores

/// The check of a configuration, its schema and its parsers, without the network.
struct ConfigurationCheck {
    let program: Program
    let options: GlobalOptions
    /// True to connect to a store on a server.
    var asksServer = false

    struct Result {
        var file: String
        var sources = 0
        var requests = 0
        var mistakes: [ConfigurationError.Problem] = []
        var notes: [String] = []
        /// A line for each source: its requests and tables.
        var details: [String] = []
    }

    /// - Throws: what keeps the check from being made; mistakes are in the result.
    func result() async throws -> Result {
        var result = Result(file: options.configurationFile)
        do {
            let configuration = try program.configuration(options)
            result.sources = configuration.sources.count
            result.requests = configuration.sources.reduce(0) { $0 + $1.requests.count }
            result.details = configuration.sources.map { source in
                let tables = Set(source.requests.flatMap { program.parsers.tables(of: $0.content) }).sorted()
                let written = tables.isEmpty ? "" : " into \(tables.joined(separator: ", "))"
                return "\(source.name): \(Figures.count(source.requests.count, "request"))\(written)"
                    + (source.isEnabled ? "" : ", disabled")
            }
            let check = StoreCheck(program: program, configuration: configuration)
            let found = try await check.findings(asksServer: asksServer)
            let searchPath = ProcessInfo.processInfo.environment["PATH"]
            let hooks = configuration.hooks.compactMap { hook in
                hook.programProblem(searchPath: searchPath).map {
                    Mistake(configuration.place("hooks", hook.name, "run"), $0)
                }
            }
            let mistakes = configuration.located(found.mistakes + hooks + check.folders())
            // In the order of the files and lines; those of one line as they were found.
            func order(_ found: (offset: Int, element: ConfigurationError.Problem)) -> (Int, String, Int, Int) {
                let file = found.element.file
                let rank = file == configuration.file ? 0 : file.isEmpty ? 2 : 1
                return (rank, file, found.element.line ?? Int.max, found.offset)
            }
            result.mistakes = mistakes.enumerated().sorted { order($0) < order($1) }.map(\.element)
            result.notes = configuration.located(found.notes).map(\.description)
        } catch let error as ConfigurationError {
            result.mistakes = error.problems
        }
        return result
    }

    /// Prints that there are no mistakes, and the notes; nothing where there are any.
    func show(_ result: Result) throws {
        guard result.mistakes.isEmpty else { return }
        try Terminal.printWrapped(
            "\(result.file): \(Figures.count(result.sources, "source")), \(Figures.count(result.requests, "request")), no mistakes"
        )
        if Terminal.isVerbose { for line in result.details { try Terminal.printWrapped(line, after: "  ") } }
        for note in result.notes { try Terminal.printWrapped(note, after: "note: ", indent: 6) }
    }
}

extension HookDeclaration {
    /// Returns why the hook's program cannot be started; nil where it can, or where the hook posts.
    func programProblem(searchPath: String?) -> Finding? {
        guard case .program(let command) = receiver, let program = command.first else { return nil }
        guard !program.value.contains("/") else {
            return Self.problem(program.value).map { Finding("the program '\(program)' \($0.text)", help: $0.help) }
        }
        let folders = (searchPath ?? "/usr/local/bin:/usr/bin:/bin").split(separator: ":")
        let isFound = folders.contains { Self.problem("\($0)/\(program.value)") == nil }
        return isFound ? nil : Finding("the program '\(program)' is in no folder of PATH")
    }

    private static func problem(_ path: String) -> Finding? {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            return Finding("does not exist")
        }
        if isFolder.boolValue { return Finding("is a folder") }
        return FileManager.default.isExecutableFile(atPath: path)
            ? nil : Finding("is not executable", help: "`chmod +x` makes it so")
    }
}
