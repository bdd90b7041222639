package import FeedDeclarations
import TOML

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
        let bytes: [UInt8]
        do {
            bytes = try ConfigurationFile.read(file)
        } catch {
            throw ConfigurationError(problems: [.init(file: file, message: "the file \(error.message)")])
        }
        self = try ConfigurationReader(file: file, bytes: bytes, parsers: parsers, environment: environment).read(
            only: names)
    }

    /// Returns messages about the file's keys, `FILE: KEY: …`, with the lines of the keys.
    package func locating(_ messages: [String]) -> [String] {
        let start = file + ": "
        guard messages.contains(where: { $0.hasPrefix(start) }), let bytes = try? ConfigurationFile.read(file),
            let document = try? TOMLParser.parse(bytes)
        else { return messages }
        return messages.map { message in
            guard message.hasPrefix(start) else { return message }
            let message = message.dropFirst(start.count)
            guard let line = document.line(of: TOMLKeyPath.read(from: message).path) else { return start + message }
            return "\(file):\(line): " + message
        }
    }

    /// Returns the SQL of the schema file.
    ///
    /// - Throws: ``ConfigurationError`` if it cannot be read.
    package func schema() throws -> String? { try sql(of: schemaPath, "store.schema") }

    /// Returns the SQL that is run once the tables of all mappings exist.
    ///
    /// - Throws: ``ConfigurationError`` if it cannot be read.
    package func schemaAfter() throws -> String? { try sql(of: schemaAfterPath, "store.schema_after") }

    private func sql(of path: String?, _ keyPath: String) throws -> String? {
        guard let path else { return nil }
        let why: String
        do {
            if let sql = try ConfigurationFile.text(named: path) { return sql }
            why = "is not UTF-8 text"
        } catch {
            why = error.message
        }
        throw ConfigurationError(problems: [.init(file: file, keyPath: keyPath, message: "the file \(path) \(why)")])
    }
}
