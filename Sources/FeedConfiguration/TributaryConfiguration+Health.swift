package import FeedDeclarations
import TOML

extension TributaryConfiguration {
    /// Returns the address at which the daemon of a file answers health checks: that of `[daemon] health`, or else `listen`;
    /// nil where neither is declared. Nothing else is read of the file: while it is being edited, the daemon keeps the
    /// configuration that it has.
    ///
    /// - Throws: ``ConfigurationError`` if the file cannot be read, or if `[daemon]` is not TOML or has no valid address.
    package static func healthAddress(
        file: String, parsers: any BodyParsing, environment: [String: String]
    ) throws -> ListenAddress? {
        let bytes: [UInt8]
        do {
            bytes = try ConfigurationFile.read(file)
        } catch {
            throw ConfigurationError(problems: [.init(file: file, message: "the file \(error.message)")])
        }
        let isTOML = (try? TOMLParser.parse(bytes)) != nil
        let reader = try ConfigurationReader(
            file: file, bytes: isTOML ? bytes : section(named: "[daemon]", of: bytes), parsers: parsers,
            environment: environment)
        return try reader.healthAddress()
    }

    /// Returns the lines of a table, up to the header of the next one.
    private static func section(named header: String, of bytes: [UInt8]) -> [UInt8] {
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        func text(_ line: ArraySlice<UInt8>) -> String { String(decoding: line, as: UTF8.self).filter { $0 != " " } }
        guard let start = lines.firstIndex(where: { text($0).hasPrefix(header) }) else { return bytes }
        let end = lines[(start + 1)...].firstIndex { text($0).hasPrefix("[") } ?? lines.endIndex
        return Array(lines[start..<end].joined(separator: [UInt8(ascii: "\n")]))
    }
}
