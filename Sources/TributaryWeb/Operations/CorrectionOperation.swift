import FeedConfiguration
import TributaryEngine

/// A correction of a source as people and programs ask for it: on its page and, where it has a summary, below `/api`. Both
/// show its changes first, and make exactly these.
struct CorrectionOperation: Sendable {
    let name: String
    /// What the index and OpenAPI say of its route.
    let summary: String?
    let parameter: APIParameter?
    /// What the page says afterwards.
    let done: String
    let isOffered: @Sendable (SourceDeclaration?) -> Bool
    /// The title of its page, for a source and the value of the parameter.
    let title: @Sendable (_ source: String, _ value: String?) -> String
    let correction: @Sendable (Query) throws -> Correction

    static let all = [
        CorrectionOperation(
            name: "undo", summary: "The changes that an undo would make, and their 'digest'; with 'apply', makes them.",
            parameter: .init("to", "The run or time to restore; if absent, the last change is undone."),
            done: "Its rows are restored. The source is paused until its feed differs or you resume it.",
            isOffered: { $0?.keepsHistory == true },
            title: { source, target in
                target.map { "Restore \(source) to \(Int64($0) == nil ? $0 : "run \($0)")" }
                    ?? "Undo the last change of \(source)"
            }, correction: { .undo(try UndoRun.Target(written: $0["to"])) }),
        CorrectionOperation(
            name: "replay",
            summary: "The changes that a replay would make, and their 'digest'; with 'apply', makes them.",
            parameter: .init("all", "true to read the older bodies first.", .boolean),
            done: "The kept bodies were read again, and the differences are committed.",
            isOffered: { $0?.keepsBodies == true }, title: { source, _ in "Replay \(source)" },
            correction: { .replay(all: try $0.flag("all")) }),
        CorrectionOperation(
            name: "purge", summary: nil, parameter: nil, done: "The source's rows and state are deleted.",
            isOffered: { _ in true }, title: { source, _ in "Purge \(source)" }, correction: { _ in .purge }),
    ]
}
