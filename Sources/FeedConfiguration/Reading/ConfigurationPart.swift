import FeedModel

/// A file of the configuration with its document: `sources.toml`, or one that it includes.
struct ConfigurationPart {
    let file: String
    let bytes: [UInt8]
    let document: TOMLTable
}

extension ConfigurationPart {
    /// - Throws: ``ConfigurationError`` if the bytes are not TOML.
    init(file: String, bytes: [UInt8]) throws(ConfigurationError) {
        do throws(TOMLError) {
            self.init(file: file, bytes: bytes, document: try TOMLParser.parse(bytes))
        } catch {
            var problem = ConfigurationError.Problem(notTOML: error, file: file)
            let excerpt = SourceExcerpt(SourceLines(bytes), error.offset..<error.offset)
            if excerpt.marksSecret {
                problem.finding = problem.finding.replacing(/'[^']*'/, with: "[secret]", maxReplacements: 1)
            }
            problem.excerpt = excerpt
            throw ConfigurationError(problems: [problem])
        }
    }

    /// An empty file is most likely half written. It would switch off every source that it declared.
    func checkIsNotEmpty() throws(ConfigurationError) {
        guard document.isEmpty else { return }
        throw ConfigurationError(problems: [.init(file: file, finding: "the file is empty; it declares no source")])
    }

    /// The finding on a text with a NUL.
    static let nul = "the text has a NUL character (U+0000), which is not allowed"

    /// Calls `body` for each key and string that contains a NUL.
    func forEachNUL(_ body: (TOMLKeyPath) -> Void) {
        // Only an escape can make one.
        if bytes.contains(UInt8(ascii: "\\")) { document.forEachNUL(body) }
    }
}
