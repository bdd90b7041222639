import FeedModel
import FeedStores
import Foundation
import Testing
import TributaryEngine

@testable import TributaryWeb

/// What is made of the declared operations.
struct OperationTests {
    @Test func eachRouteHasTheSchemaOfItsAnswer() throws {
        let schemas = try JSONDecoder().decode(AnswerSchemas.self, from: Data(PackageResources.answers_json))
        let corrections = CorrectionOperation.all.filter { $0.summary != nil }
        for name in SourceOperation.all.map(\.name) + corrections.map(\.name) {
            #expect(schemas.answers["post" + name.capitalized] != nil, "\(name)")
        }
    }

    @Test func eachNoticeHasAWordOfItsOwn() {
        let words =
            SourceOperation.all.flatMap { [$0.name, $0.notDone?.word].compactMap(\.self) }
            + CorrectionOperation.all.map(\.name)
        #expect(Set(words).count == words.count, "\(words)")
    }

    @Test func thePageOffersWhatTheStateAllows() {
        func offered(_ state: SourceState, _ acceptance: Acceptance? = nil) -> [String] {
            SourceOperation.all.filter { $0.button?.isOffered(state, acceptance) == true }.map(\.name)
        }
        var state = SourceState(source: "news")
        #expect(offered(state) == ["refresh", "pause"])
        let acceptance = Acceptance(source: "news", run: nil, until: .distantFuture)
        #expect(offered(state, acceptance) == ["refresh", "withdraw", "pause"])
        state.pausedAt = Date(timeIntervalSince1970: 0)
        #expect(offered(state) == ["resume"])
    }

    @Test func anAddressKeepsWhatWasAskedOfACorrection() throws {
        let undo = try #require(try CorrectionAddress("/sources/a%20b/undo?to=41&table=t"))
        #expect(undo.correction == .undo(.run(41)) && undo.title == "Restore a b to run 41")
        #expect(undo.address(undo.part, apply: "7~8") == "/sources/a%20b/undo?to=41&table=t&apply=7~8")
        let replay = try #require(try CorrectionAddress("/sources/news/replay?all=true"))
        #expect(replay.correction == .replay(all: true) && replay.address() == "/sources/news/replay?all=true")
        let purge = try #require(try CorrectionAddress("/sources/news/purge"))
        #expect(purge.correction == .purge && purge.address() == "/sources/news/purge")
        #expect(try CorrectionAddress("/sources/news/runs") == nil)
    }
}
