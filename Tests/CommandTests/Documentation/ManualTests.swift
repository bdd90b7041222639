import Foundation
import TestSupport
import Testing

/// The manual page sources.toml(5), which is made of the reference.
@Suite struct ManualTests {
    private enum Tool {
        static let python = "/usr/bin/python3"
        static let man = "/usr/bin/man"

        static func isThere(_ program: String) -> Bool { FileManager.default.isExecutableFile(atPath: program) }
    }

    private func manual(in folder: TemporaryFolder) async throws -> String {
        let script = MarkdownFile.root.appendingPathComponent("Scripts/sources-toml-manual").path
        let program = BuiltProgram(path: Tool.python, environment: ["PATH": "/usr/bin:/bin"])
        let output = try await program.run(script, "--version", "1.0", "--date", "2026-11-22")
        #expect(output.status == 0, "\(output.standardError)")
        return try folder.write(output.standardOutput, to: "sources.toml.5")
    }

    @Test(.enabled(if: Tool.isThere(Tool.python))) func everyTableAndKeyIsInTheManual() async throws {
        try await withTemporaryFolder { (folder) async throws in
            let text = try String(contentsOfFile: try await manual(in: folder), encoding: .utf8)
            for page in try ReferencePage.all() {
                #expect(text.contains(".SH \"\(page.header)\"\n"))
                for key in page.keys { #expect(text.contains(".SS \"\(key.name)\"\n"), "\(key.name)") }
            }
            #expect(text.hasPrefix(".TH SOURCES.TOML 5 \"2026\\-11\\-22\" \"tributary 1.0\"\n"))
            // What of Markdown is left would be a form that the script does not know.
            let rest = text.split(separator: "\n").filter { $0.contains("](") || $0.hasPrefix("|") }
            #expect(rest == [])
        }
    }

    @Test(.enabled(if: Tool.isThere(Tool.python) && Tool.isThere(Tool.man))) func manFindsNothingWrong() async throws {
        try await withTemporaryFolder { (folder) async throws in
            let path = try await manual(in: folder)
            // As lintian(1) asks.
            let environment = ["PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "MANROFFSEQ": "", "MANWIDTH": "80"]
            let program = BuiltProgram(path: Tool.man, environment: environment)
            let output = try await program.run("--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", path)
            #expect(output.status == 0 && output.standardError == "")
        }
    }
}
