import FeedDeclarations
import Foundation

extension HookDeclaration {
    /// Returns why the hook's program cannot be started; nil where it can, or where the hook posts.
    func programProblem(file: String, searchPath: String?) -> String? {
        guard case .program(let command) = receiver, let program = command.first else { return nil }
        let place = "\(file): hooks.\(name).run: the program '\(program)'"
        guard !program.value.contains("/") else {
            return Self.problem(program.value).map { "\(place) \($0)" }
        }
        let folders = (searchPath ?? "/usr/local/bin:/usr/bin:/bin").split(separator: ":")
        let isFound = folders.contains { Self.problem("\($0)/\(program.value)") == nil }
        return isFound ? nil : "\(place) is in no folder of PATH"
    }

    private static func problem(_ path: String) -> String? {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else { return "does not exist" }
        if isFolder.boolValue { return "is a folder" }
        return FileManager.default.isExecutableFile(atPath: path) ? nil : "is not executable; `chmod +x` makes it so"
    }
}
