import Foundation
import Synchronization
import TestSupport
import Testing

/// The short form of `Scripts/soak`: whatever runs do, the daemon does not grow with their number.
@Suite struct SoakTests {
    private static let sources = 120
    private static let kinds = ["unchanged", "changed", "missing", "broken", "moved", "cut", "file"]

    private struct Figures {
        var runs: Int
        var kilobytes: Int
        var descriptors: Int
    }

    private func figures(_ process: Int32, _ store: String) async throws -> Figures {
        let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        let memory = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }?.split(separator: " ")
        return Figures(
            runs: try await sqlite(store, "SELECT sum(polls) FROM tributary_run").flatMap { Int($0) } ?? 0,
            kilobytes: try #require(memory.flatMap { $0.count > 1 ? Int($0[1]) : nil }),
            descriptors: try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd").count)
    }

    private func serve(_ server: StubServer) {
        let revision = Mutex(0)
        let body = "<r><i id='1'><n>x</n></i></r>"
        for kind in Self.kinds {
            server.route("/" + kind) { request in
                switch kind {
                case "unchanged":
                    let isKnown = request.headers["if-none-match"] != nil
                    return StubServer.response(isKnown ? 304 : 200, isKnown ? "" : body, ["ETag": "\"1\""])
                case "changed":
                    let now = revision.withLock { revision in
                        revision += 1
                        return revision
                    }
                    return StubServer.response(200, "<r><i id='1'><n>\(now)</n></i></r>")
                case "missing": return StubServer.response(404, "")
                case "broken": return StubServer.response(200, "<r><i></r>")
                case "moved": return StubServer.response(302, "", ["Location": "/unchanged"])
                default:
                    return [.send(Array("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n<r>".utf8)), .close]
                }
            }
        }
    }

    @Test(.timeLimit(.minutes(10))) func theDaemonDoesNotGrowWithItsRuns() async throws {
        try await withStubServer { server in
            try await withTemporaryFolder { (folder) async throws in
                serve(server)
                try folder.write("<r><i id='1'><n>x</n></i></r>", to: "a.xml")
                let sources = (0..<Self.sources).map { number in
                    let kind = Self.kinds[number % Self.kinds.count]
                    let url = kind == "file" ? "file://\(folder.file("a.xml"))" : "\(server.url)/\(kind)"
                    return """
                        [[sources.s\(number).requests]]
                        url = "\(url)"
                        scope = { source = "\(number)" }
                        tables = [{ table = "t\(number % 5)", element = "i", key = ["source", "id"], sync = "mirror", columns = { id = "@id", n = "n" } }]

                        """
                }
                try folder.write(
                    "[store]\npath = \"store.sqlite\"\n[daemon]\nper_host = 8\n[defaults]\ncache = \"1s\"\n"
                        + sources.joined(),
                    to: "sources.toml")
                let program = BuiltProgram("tributary", config: folder.file("sources.toml"))
                let daemon = try program.start(["run", "--log-level", "critical"])
                let store = folder.file("store.sqlite")
                // The descriptors of runs in progress come and go; the least of many looks are those that stay.
                func wait(forRuns runs: Int, looks fewest: Int) async throws -> (now: Figures, leastDescriptors: Int) {
                    var (least, looks) = (Int.max, 0)
                    while true {
                        try await Task.sleep(for: .milliseconds(100))
                        guard FileManager.default.fileExists(atPath: store),
                            let now = try? await figures(daemon.identifier, store)
                        else { continue }
                        least = min(least, now.descriptors)
                        looks += 1
                        if now.runs >= runs, looks >= fewest { return (now, least) }
                    }
                }
                do {
                    let warm = try await wait(forRuns: 500, looks: 1).now
                    let (later, least) = try await wait(forRuns: warm.runs + 700, looks: 20)
                    let growth = Double(later.kilobytes - warm.kilobytes) / Double(later.runs - warm.runs)
                    // Caches are still being filled; what a run once left behind was 15 kB.
                    #expect(growth < 5, "\(warm), \(later)")
                    #expect(least <= warm.descriptors + 30, "\(warm), \(later), \(least)")
                } catch {
                    daemon.signal(SIGKILL)
                    throw error
                }
                daemon.signal(SIGTERM)
                #expect(await daemon.end() == 0)
            }
        }
    }
}
