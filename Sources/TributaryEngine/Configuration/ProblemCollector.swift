/// Gathers mistakes while a configuration is read; each is given its line at the end.
final class ProblemCollector {
    private(set) var found: [(path: TOMLKeyPath, message: String)] = []

    func report(_ path: TOMLKeyPath, _ message: String) { found.append((path, message)) }

    /// - Throws: ``ConfigurationError`` where there is any mistake, in the order of the file.
    func check(file: String, text: String) throws {
        guard !found.isEmpty else { return }
        let index = TOMLLineIndex(text)
        let problems = found.map { problem in
            ConfigurationError.Problem(
                file: file, line: index.line(of: problem.path), keyPath: problem.path.description,
                message: problem.message)
        }
        throw ConfigurationError(problems: problems.sorted { ($0.line ?? 0, $0.keyPath) < ($1.line ?? 0, $1.keyPath) })
    }
}
