/// Gathers mistakes while a configuration is read; each is given its line at the end.
final class ProblemCollector {
    private let text: String
    private lazy var index = TOMLLineIndex(text)
    private(set) var found: [(path: TOMLKeyPath, message: String)] = []

    /// - Parameter text: the document.
    init(_ text: String) { self.text = text }

    /// Values in the order in which their keys stand in the document.
    func inOrder<Value>(_ values: [Value], _ path: KeyPath<Value, TOMLKeyPath>) -> [Value] {
        values.count < 2 ? values : values.sorted { index.isBefore($0[keyPath: path], $1[keyPath: path]) }
    }

    func report(_ path: TOMLKeyPath, _ message: String) { found.append((path, message)) }

    /// - Throws: ``ConfigurationError`` where there is any mistake, in the order of the file.
    func check(file: String) throws {
        guard !found.isEmpty else { return }
        let problems = found.map { problem in
            ConfigurationError.Problem(
                file: file, line: index.line(of: problem.path), keyPath: problem.path.description,
                message: problem.message)
        }
        throw ConfigurationError(problems: problems.sorted { ($0.line ?? 0, $0.keyPath) < ($1.line ?? 0, $1.keyPath) })
    }
}
