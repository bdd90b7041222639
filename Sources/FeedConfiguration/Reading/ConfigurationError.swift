import FeedModel

/// All mistakes in a configuration, reported at once.
public struct ConfigurationError: Error, Sendable, Equatable, CustomStringConvertible {
    public struct Problem: Sendable, Equatable, CustomStringConvertible {
        /// Empty for a mistake that names its own place.
        public var file: String
        /// The line, counted from 1; nil if the mistake has no line.
        public var line: Int?
        /// `sources.directory.requests[2].timeout`; empty if the mistake concerns the whole file.
        public var keyPath: String
        /// What is wrong.
        public var finding: String
        /// What to do; nil where nothing can be said.
        public var help: String?
        /// The part of the line that is wrong; nil where that is not known.
        public var excerpt: SourceExcerpt?
        /// The column that ``description`` names behind the message; nil for none.
        var column: Int?

        public init(file: String, line: Int? = nil, keyPath: String = "", finding: String, help: String? = nil) {
            self.file = file
            self.line = line
            self.keyPath = keyPath
            self.finding = finding
            self.help = help
        }

        /// - Parameter error: the reason why the file is not TOML.
        init(notTOML error: TOMLError, file: String) {
            self.init(
                file: file, line: error.line, finding: "this is not TOML: \(error.finding.text)",
                help: error.finding.help)
            column = error.column
        }

        /// The finding and the help in one sentence.
        public var message: String { Finding(finding, help: help).description }

        public var description: String {
            let place = file.isEmpty ? "" : file + (line.map { ":\($0)" } ?? "") + ": "
            let end = column.map { ", at column \($0)" } ?? ""
            return place + (keyPath.isEmpty ? "" : "\(keyPath): ") + message + end
        }
    }

    public var problems: [Problem]

    public init(problems: [Problem]) { self.problems = problems }

    public var description: String { problems.map(\.description).joined(separator: "\n") }
}
