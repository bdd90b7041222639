import FeedModel
import FeedStores
import Foundation
import TestEngine
import TestStores
import TestSupport
import Testing
@testable import TributaryEngine
import TributaryStores

/// The first call of a run to the disk fails, then the second, and so on, until a run passes that makes fewer calls.
@Suite struct NthCallTests {
    /// What a source's requests are, and what a server answers to them.
    private struct Stack: Sendable {
        var sources: String
        /// The documents of a version, by their paths.
        var documents: @Sendable (_ version: Int) -> [String: String]
    }

    private static let small = Stack(sources: EngineFixture.request("/items")) { version in
        ["/items": EngineFixture.items(["1", "2", "\(version)"], name: "n\(version)")]
    }

    /// Its rows are more than memory holds, so they wait in the scratch database. Each version changes and deletes a few.
    private static let large = Stack(sources: EngineFixture.request("/items", "sync = \"mirror\"")) { version in
        let text = String(repeating: "x", count: 8192)
        let items = (0..<300).filter { $0 % 100 != version % 100 }.map { number in
            "<item id='\(number)'><name>\(number % 50 == 0 ? "n\(version)" : "")\(text)</name></item>"
        }
        return ["/items": "<items>" + items.joined() + "</items>"]
    }

    private static let details = Stack(
        sources: """
            [[sources.s.requests]]
            url = "URL/companies"
            parser = "CompaniesParser"
            sync = "mirror"
            [[sources.s.requests]]
            url = "URL/items/${row:id}"
            parser = "ItemsParser"
            sync = "mirror"
            for_each = "SELECT id FROM staged.company ORDER BY id"
            """
    ) { version in
        [
            "/companies": "<companies><company id='a' name='n\(version)'/><company id='b' name='n'/></companies>",
            "/items/a": "<items><item id='\(version)' company='a'/></items>",
            "/items/b": "<items><item id='b' company='b'><name>n\(version)</name></item></items>",
        ]
    }

    /// The rows, and the validators that stand for them.
    private func state(_ fixture: EngineFixture) throws -> [String] {
        try fixture.dump() + fixture.rows("SELECT key, etag FROM tributary_request ORDER BY key")
    }

    private func publish(_ version: Int, of stack: Stack, _ fixture: EngineFixture) {
        for (path, document) in stack.documents(version) {
            fixture.server.document(path, document, etag: "\"\(version)\"")
        }
    }

    /// Runs a stack once, and closes the store.
    ///
    /// - Returns: what went wrong.
    private func run(_ stack: Stack, _ fixture: EngineFixture) async throws -> String? {
        do {
            let service = try fixture.service(stack.sources, clock: SystemClock())
            let run: Result<RunReport?, any Error>
            do { run = .success(try await service.sync(mode: .force).first) } catch { run = .failure(error) }
            let closing = Result { try service.store.close() }
            if let error = try run.get()?.error { return error }
            try closing.get()
            return nil
        } catch {
            return "\(error)"
        }
    }

    /// Every call fails once where there are few; of many, every one up to the 20th, and then fewer and fewer.
    private static func next(_ number: Int) -> Int {
        let isThorough = ProcessInfo.processInfo.environment["TRIBUTARY_EVERY_CALL"] != nil
        return number < 20 || isThorough ? number + 1 : number + number / 4
    }

    private func failEachCall(
        of stack: Stack, where counts: @escaping @Sendable (_ name: String, _ path: Substring) -> Bool
    ) async throws {
        try await EngineFixture.with { fixture in
            publish(0, of: stack, fixture)
            #expect(try await run(stack, fixture) == nil)
            let fault = DiskFault(in: fixture.folder.path, where: counts)
            var number = 1
            while true {
                let before = try state(fixture)
                publish(number, of: stack, fixture)
                fault.fail(number)
                let problem = try await run(stack, fixture)
                let failed = fault.end()
                let left = try state(fixture)
                #expect(try files(in: fixture.store.workFolder).allSatisfy { $0 == ".lock" }, "\(failed ?? "")")
                #expect(try fixture.rows("PRAGMA integrity_check") == ["ok"], "\(failed ?? "")")
                #expect(try await run(stack, fixture) == nil, "after \(failed ?? "")")
                let after = try state(fixture)
                #expect(after != before)
                #expect(left == after || problem != nil && left == before, "\(failed ?? ""): \(problem ?? "no error")")
                guard let failed else {
                    #expect(problem == nil && number > 1)
                    break
                }
                if let problem { #expect(problem.contains(fixture.storePath), "\(failed): \(problem)") }
                number = Self.next(number)
            }
            #expect(fixture.descriptors == 0)
        }
    }

    @Test func ofASmallStack() async throws { try await failEachCall(of: Self.small) { _, _ in true } }

    @Test func ofAStackWithDetails() async throws { try await failEachCall(of: Self.details) { _, _ in true } }

    @Test func ofALargeStackToTheScratchDisk() async throws {
        try await failEachCall(of: Self.large) { _, path in path.hasPrefix("store.sqlite-work/") }
    }

    @Test func ofALargeStackToTheStore() async throws {
        try await failEachCall(of: Self.large) { _, path in !path.hasPrefix("store.sqlite-work/") }
    }

    /// The server hangs up at each piece of its answers.
    @Test(arguments: [small, large, details].indices) func ofAnswers(index: Int) async throws {
        let stack = [Self.small, Self.large, Self.details][index]
        try await EngineFixture.with { fixture in
            publish(0, of: stack, fixture)
            #expect(try await run(stack, fixture) == nil)
            for number in 1... {
                let before = try state(fixture)
                let pieces = Pieces(number)
                for (path, document) in stack.documents(number) {
                    fixture.server.route(path) { _ in pieces.answer(document, etag: "\"\(number)\"") }
                }
                let problem = try await run(stack, fixture)
                let left = try state(fixture)
                guard pieces.hasFailed else {
                    #expect(problem == nil && left != before && number > 3)
                    break
                }
                // A request on a connection that has been used before is sent again.
                #expect(
                    problem.map { $0.contains(fixture.server.url) } ?? (number > 4),
                    "piece \(number): \(problem ?? "no error")")
                #expect(try files(in: fixture.store.workFolder).allSatisfy { $0 == ".lock" })
                publish(number, of: stack, fixture)
                #expect(try await run(stack, fixture) == nil)
                let after = try state(fixture)
                #expect(after != before && left == (problem == nil ? after : before))
            }
        }
    }
}

/// Answers in pieces, one of which is a reset.
private final class Pieces: Sendable {
    private let number: Int
    private let count = Mutex(0)

    /// - Parameter number: that of the piece, of all answers together.
    init(_ number: Int) { self.number = number }

    var hasFailed: Bool { count.withLock { $0 >= number } }

    func answer(_ document: String, etag: String) -> [StubServer.Step] {
        let bytes = Array(document.utf8)
        let size = max(1, bytes.count / 3)
        let head = StubServer.head(200, ["ETag": etag, "Content-Length": "\(bytes.count)"])
        let body = stride(from: 0, to: bytes.count, by: size).map {
            StubServer.Step.send(Array(bytes[$0..<min($0 + size, bytes.count)]))
        }
        return count.withLock { count in
            let steps = [head] + body
            let (before, last) = (count, count + steps.count)
            // The connection ends with the reset.
            guard last >= number, before < number else {
                count = last
                return steps
            }
            count = number
            return steps.prefix(number - before - 1) + [.reset]
        }
    }
}
