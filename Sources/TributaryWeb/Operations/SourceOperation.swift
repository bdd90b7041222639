import FeedConfiguration
import FeedModel
import FeedStores
import HTTPTypes
import TributaryEngine

/// An operation of sources that is done at once. From it are made its route below `/api` with what the index and OpenAPI
/// say of it, and its button on the page of a source with what the page says afterwards.
struct SourceOperation: Sendable {
    /// The answer for programs, and false where everything was so before.
    typealias Outcome = (answer: JSONObject, didChange: Bool)

    let name: String
    let summary: String
    var parameters: [APIParameter] = []
    /// True where no source means all of them.
    var mayBeAll = false
    /// False for an operation that does not wait for those who write to the store.
    var writes = true
    /// The button on the page of a source, and the states and permissions with which it is there; nil for a button
    /// elsewhere.
    var button: (title: String, isOffered: @Sendable (SourceState, Acceptance?) -> Bool)?
    /// What the page of the source says afterwards.
    let done: String
    /// What it says where nothing was done, and the word of that in its address.
    var notDone: (word: String, text: String)?
    /// Blocks its thread.
    let body: @Sendable (SyncService, _ sources: [String], _ query: Query, _ isOnPage: Bool) throws -> Outcome

    func perform(
        _ sources: [String], _ query: Query, isOnPage: Bool, by service: SyncService, _ store: StoreQueue
    ) async throws -> Outcome {
        let body: @Sendable (Any) throws -> Outcome = { [self] _ in try self.body(service, sources, query, isOnPage) }
        return try await writes ? store.write(body) : store.read(body)
    }

    static let all = [
        SourceOperation(
            name: "refresh", summary: "Refreshes sources; without 'source', all enabled sources.", mayBeAll: true,
            writes: false, button: ("Refresh now", { state, _ in !state.isStopped }),
            done: "Refresh queued; it starts when a slot is free.",
            notDone: ("is-paused", "It is paused, and is refreshed once you resume it.")
        ) { service, sources, _, isOnPage in
            if let stopped = try service.refreshUnlessStopped(sources) {
                if isOnPage { return ([:], false) }
                throw Query.Problem(
                    "\(stopped) is paused; POST /api/resume?source=\(stopped.percentEncoded) runs it again", .conflict)
            }
            let all = service.configuration.enabledSources.map(\.name)
            return (["sources": sources.isEmpty ? all : sources], true)
        },
        SourceOperation(
            name: "accept", summary: "Commits the documents of a blocked run.",
            parameters: [
                .init("run", "The number of the blocked run; required without 'in_advance'.", .integer),
                .init("in_advance", "true to accept the next runs of sources that are not blocked.", .boolean),
            ], done: "The documents of the blocked run are being committed; nothing is fetched."
        ) { service, sources, query, isOnPage in
            let inAdvance = try !isOnPage && query.flag("in_advance")
            let run = try query.number("run").map(Int64.init)
            guard inAdvance ? run == nil : run != nil && sources.count == 1 else {
                throw Query.Problem(
                    inAdvance
                        ? "'run' cannot be combined with 'in_advance'"
                        : isOnPage
                            ? "The address names no run. Open the page of the blocked run, and accept it there."
                            : "name one source and its blocked run, as ?source=NAME&run=NUMBER; GET /api/review lists them"
                )
            }
            return (JSONObject(try service.accept(sources, inAdvance: inAdvance, run: run), of: sources), true)
        },
        SourceOperation(
            name: "withdraw", summary: "Withdraws permissions of accept that no run has used.",
            button: ("Withdraw permission", { _, acceptance in acceptance != nil }),
            done: "The permission is withdrawn.", notDone: ("not-accepted", "It had no permission any more.")
        ) { service, sources, _, _ in
            let withdrawn = try service.withdraw(sources)
            return (["withdrawn": withdrawn], !withdrawn.isEmpty)
        },
        SourceOperation(
            name: "pause", summary: "Pauses sources until they are resumed.",
            button: ("Pause", { state, _ in !state.isPaused }),
            done: "It is paused: nothing is fetched until you resume it.",
            notDone: ("was-paused", "It was already paused.")
        ) { service, sources, _, _ in
            let paused = try service.pause(sources)
            return (["paused": paused], !paused.isEmpty)
        },
        SourceOperation(
            name: "resume", summary: "Resumes paused sources.", button: ("Resume", { state, _ in state.isPaused }),
            done: "It is resumed; a refresh is queued.", notDone: ("not-paused", "It was not paused.")
        ) { service, sources, _, _ in
            let resumed = try service.resume(sources)
            return (["resumed": resumed], !resumed.isEmpty)
        },
    ]
}

/// A parameter of an operation.
struct APIParameter: Sendable {
    /// A type of JSON Schema.
    enum Kind: String, Sendable { case string, integer, boolean }

    let name: String
    let meaning: String
    let kind: Kind
    /// True where it may be given more than once.
    let isRepeated: Bool
    /// True for a part of the path.
    let isInPath: Bool

    init(
        _ name: String, _ meaning: String, _ kind: Kind = .string, isRepeated: Bool = false, isInPath: Bool = false
    ) {
        (self.name, self.meaning, self.kind) = (name, meaning, kind)
        (self.isRepeated, self.isInPath) = (isRepeated, isInPath)
    }
}
