import Foundation
import TestSupport
import Testing

/// No document makes a run take more memory than 200 MiB, or end otherwise than committed or discarded.
@Suite struct HostileDocumentTests {
    private struct Run: Decodable {
        var source: String
        var outcome: String
        var error: String?
    }

    @Test(.timeLimit(.minutes(10)), arguments: HostileDocument.Kind.allCases)
    func everyDocumentIsCommittedOrDiscardedWithinTheMemory(kind: HostileDocument.Kind) async throws {
        try await withTemporaryFolder { (folder) async throws in
            var configuration =
                "[store]\npath = \"store.sqlite\"\n[daemon]\nper_host = 1\n[defaults]\nmax_body = \"24MiB\"\ntimeout = \"10m\"\n"
            for document in kind.documents {
                let file = folder.file(document.name)
                #expect(FileManager.default.createFile(atPath: file, contents: Data(document.body)))
                configuration +=
                    "[[sources.\(document.name).requests]]\nurl = \"file://\(file)\"\nallow_empty = true\n"
                    + document.mapping.replacingOccurrences(of: "NAME", with: document.name) + "\n"
            }
            try folder.write(configuration, to: "sources.toml")
            var program = BuiltProgram("tributary", config: folder.file("sources.toml"))
            program.dataLimit = 200 << 20
            // Whoever needs more than the limit is refused memory, and ends by a signal. (The peak that wait4(2) tells is
            // that of whoever started the process, where that is larger.)
            let output = try await program.run("sync", "--json")
            #expect(output.status == 1, "\(output.status) \(output.standardError.suffix(2000))")
            let runs = try output.standardOutput.split(separator: "\n").map {
                try JSONDecoder().decode(Run.self, from: Data($0.utf8))
            }
            let bySource = Dictionary(runs.map { ($0.source, $0) }) { first, _ in first }
            for document in kind.documents {
                let run = bySource[document.name]
                guard let refusal = document.refusal else {
                    #expect(run?.outcome == "committed", "\(document.name): \(run?.error ?? "no run")")
                    continue
                }
                #expect(run?.outcome == "discarded", "\(document.name)")
                #expect(run?.error?.contains(refusal) == true, "\(document.name): \(run?.error ?? "no error")")
            }
        }
    }
}
