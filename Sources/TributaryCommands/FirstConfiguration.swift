import FeedConfiguration
import FeedInferring
import Foundation

/// A first `sources.toml`: the store, and a source or an example of one.
struct FirstConfiguration {
    /// A line by which editors find the schema of the file (taplo, Even Better TOML).
    static let schemaLine = "#:schema \(schemaName)\n"
    static let schemaHint =
        "# Editors complete and check this file by it: tributary check --json-schema > \(schemaName)\n"
    private static let schemaName = "sources.schema.json"

    /// The path of the store's file, or the address of a database on a server.
    var store: String
    /// The block of a source; nil for an example.
    var source: String?

    static let defaultStore = "tributary.sqlite"

    /// The text of the file.
    var text: String {
        let key = if case .server = StoreLocation(argument: store) { "url" } else { "path" }
        return """
            \(Self.schemaLine)# Every key is in the manual, sources.toml(5).

            [store]
            \(key) = \(TOMLText.quoted(store))

            \(source ?? Self.example)
            """
    }

    /// A source, as comments.
    static let example = """
        # A source: what to fetch, how often, and which element is a row of which table. `tributary infer URL` proposes a
        # source for a document. Without the `#`, this is a complete source:
        #
        # [sources.prices]
        # cache = "1h"                            # fetched once an hour
        #
        # [[sources.prices.requests]]
        # url  = "https://shop.example/prices.xml"
        # sync = "mirror"                         # deletes rows that have left the document; "upsert" keeps them
        #
        # [[sources.prices.requests.tables]]
        # table   = "price"                       # is created if the store has no such table
        # element = "article"                     # each <article> is a row
        # key     = ["number"]
        # [sources.prices.requests.tables.columns]
        # number = "@number"                      # an attribute
        # name   = "name"                         # the text of a child
        # price  = { path = "price", type = "decimal" }

        """

    /// Writes the file, for its user alone if it has a secret, and the schema beside it.
    ///
    /// - Returns: the names of the files.
    /// - Throws: ``Failure`` where the file exists or cannot be made.
    func write(to file: String) throws -> [String] {
        let mode: mode_t = LiteralSecrets.finds(in: text) ? 0o600 : 0o666
        let descriptor = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard descriptor >= 0 else {
            guard errno != EEXIST else { throw Self.exists(file) }
            throw Failure.failed("\(file) cannot be made: \(String(cString: strerror(errno)))")
        }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        do {
            try handle.write(contentsOf: Data(text.utf8))
            try handle.close()
        } catch {
            unlink(file)
            throw Failure.failed("\(file) cannot be written: \(error.localizedDescription)")
        }
        let schema = URL(fileURLWithPath: file).deletingLastPathComponent().appendingPathComponent(Self.schemaName)
        guard !FileManager.default.fileExists(atPath: schema.path) else { return [file] }
        do {
            try ConfigurationSchema.json.write(to: schema)
        } catch {
            throw Failure.failed("\(schema.path) cannot be written: \(error.localizedDescription)")
        }
        return [file, Self.schemaName]
    }

    static func exists(_ file: String) -> Failure {
        .usage("\(file) exists, and nothing was changed; `tributary infer URL >> \(file)` adds a source to it")
    }
}
