package import FeedModel
import Foundation

extension TributaryConfiguration {
    /// Reads a file.
    ///
    /// - Parameters:
    ///   - parsers: the registered parsers, any of which a request may name.
    ///   - environment: the variables that replace `${NAME}`.
    ///   - names: the sources that matter; others may be left out, and mistakes in them unseen. All where there are none.
    /// - Throws: ``ConfigurationError`` with every mistake in the file.
    package init(
        file: String, parsers: any BodyParsing, environment: [String: String], only names: [String] = []
    ) throws {
        self = try ConfigurationReader(
            file: file, bytes: Self.bytes(of: file), parsers: parsers, environment: environment
        ).read(only: names)
    }

    private static func bytes(of file: String) throws(ConfigurationError) -> [UInt8] {
        do {
            return try ConfigurationFile.read(file)
        } catch {
            let help = FileManager.default.fileExists(atPath: file) ? nil : "the command `init` makes a first one"
            throw ConfigurationError(problems: [.init(file: file, finding: "the file \(error)", help: help)])
        }
    }

    /// Returns the place of a key.
    package func place(_ keys: String...) -> KeyPlace {
        let path = TOMLKeyPath(components: keys.map { .key($0) })
        return KeyPlace(file: included.file(of: keys) ?? file, path)
    }

    /// Returns mistakes in the file's keys with their lines, and without secrets.
    package func located(_ mistakes: [Mistake]) -> [ConfigurationError.Problem] {
        var known: [String: (part: ConfigurationPart, lines: SourceLines)?] = [:]
        func file(_ name: String) -> (part: ConfigurationPart, lines: SourceLines)? {
            if let file = known[name] { return file }
            guard name == self.file || included.contains(name) else { return nil }
            let part = (try? ConfigurationFile.read(name)).flatMap { try? ConfigurationPart(file: name, bytes: $0) }
            let file = part.map { ($0, SourceLines($0.bytes)) }
            known[name] = .some(file)
            return file
        }
        return mistakes.map { mistake in
            let place = mistake.place
            let finding = Finding(
                redactor.redact(mistake.finding.text), help: mistake.finding.help.map(redactor.redact))
            guard let (part, lines) = file(place.file), part.document.place(of: place.keyPath) != nil else {
                return .init(file: place.file, keyPath: place.path, finding: finding.text, help: finding.help)
            }
            return .init(path: place.keyPath, finding, in: part, lines)
        }
    }

    /// Returns the SQL of the schema file.
    ///
    /// - Throws: ``ConfigurationError`` if it cannot be read.
    package func schema() throws -> String? { try sql(of: schemaPath, "schema") }

    /// Returns the SQL that is run once the tables of all mappings exist.
    ///
    /// - Throws: ``ConfigurationError`` if it cannot be read.
    package func schemaAfter() throws -> String? { try sql(of: schemaAfterPath, "schema_after") }

    private func sql(of path: String?, _ key: String) throws -> String? {
        do {
            return try path.map(ConfigurationFile.text)
        } catch {
            throw ConfigurationError(problems: located([Mistake(place("store", key), error)]))
        }
    }
}

extension TributaryConfiguration {
    /// Returns what a file with mistakes declares of its store, with the names of its sources, for commands that need no
    /// more: while the file is being edited, the daemon keeps the configuration that it has.
    ///
    /// - Parameter stored: returns the names of the sources in the store; nil without a store. They stand for those of a
    ///   file that is not TOML, or includes one that cannot be read.
    /// - Returns: nil without a store.
    /// - Throws: ``ConfigurationError`` if the file cannot be read, or if `[store]` is not TOML or does not tell where the
    ///   store is; the errors of `stored`.
    package init?(
        storeOf file: String, parsers: any BodyParsing, environment: [String: String],
        stored: (TributaryConfiguration) throws -> [String]?
    ) throws {
        let (reader, isTOML) = try Self.reader(
            of: "[store]", file: file, parsers: parsers, environment: environment)
        let (known, isWhole) = try reader.readStore()
        guard let names = try stored(known) else { return nil }
        self = isTOML && isWhole ? known : known.with(names.map { SourceDeclaration(unread: $0) })
    }

    /// Returns the address at which the daemon of a file answers health checks: that of `[daemon] health`, or else
    /// `listen`; nil where neither is declared. Nothing else is read of the file, as for the store.
    ///
    /// - Throws: ``ConfigurationError`` if the file cannot be read, or if `[daemon]` is not TOML or has no valid
    ///   address.
    package static func healthAddress(
        file: String, parsers: any BodyParsing, environment: [String: String]
    ) throws -> ListenAddress? {
        try reader(of: "[daemon]", file: file, parsers: parsers, environment: environment).reader.healthAddress()
    }

    /// Returns the reader of one table of a file: of the whole file if it is TOML, or else of the table's lines.
    ///
    /// - Throws: ``ConfigurationError`` if the file cannot be read, or if these lines are not TOML.
    private static func reader(
        of header: String, file: String, parsers: any BodyParsing, environment: [String: String]
    ) throws -> (reader: ConfigurationReader, isTOML: Bool) {
        let bytes = try bytes(of: file)
        let isTOML = (try? TOMLParser.parse(bytes)) != nil
        let reader = try ConfigurationReader(
            file: file, bytes: isTOML ? bytes : section(named: header, of: bytes), parsers: parsers,
            environment: environment)
        return (reader, isTOML)
    }

    /// Returns the lines of a table, up to the header of the next one.
    private static func section(named header: String, of bytes: [UInt8]) -> [UInt8] {
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        func text(_ line: ArraySlice<UInt8>) -> String {
            String(decoding: line, as: UTF8.self).filter { $0 != " " && $0 != "\t" }
        }
        guard let start = lines.firstIndex(where: { text($0).hasPrefix(header) }) else { return bytes }
        let end = lines[(start + 1)...].firstIndex { text($0).hasPrefix("[") } ?? lines.endIndex
        return Array(lines[start..<end].joined(separator: [UInt8(ascii: "\n")]))
    }
}
