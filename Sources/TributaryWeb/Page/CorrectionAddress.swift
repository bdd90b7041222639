import FeedConfiguration
import Foundation
import HTTPTypes
import Hummingbird
import TributaryEngine

/// An undo, a replay or a purge of a source as an address says it: `/sources/shop/undo?to=41`.
struct CorrectionAddress: Sendable {
    enum Kind: String, CaseIterable { case undo, replay, purge }

    let source: String
    let kind: Kind
    /// How it is written for programs; nil for a page.
    let format: FileFormat?
    /// Of an undo, the run or time to go back to.
    var to: String?
    /// Of a replay, true for all kept bodies.
    var all = false
    var part: ChangePart
    /// The digest of what was shown, where it is to be done.
    var apply: String?

    /// - Returns: nil for the address of something else.
    /// - Throws: ``Query/Problem``.
    init?(_ request: Request) throws { try self.init(request.uri.string) }

    /// - Parameter address: path and query.
    /// - Returns: nil for the address of something else.
    /// - Throws: ``Query/Problem``.
    init?(_ address: String) throws {
        let (names, query) = Query.parts(of: address)
        guard names.count == 3, names[0] == "sources" else { return nil }
        let (name, format) = FileFormat.split(names[2])
        guard let kind = Kind(rawValue: name) else { return nil }
        self.format = format
        self.kind = kind
        source = names[1]
        to = query["to"]
        all = query["all"] == "true"
        part = try ChangePart(query)
        apply = query["apply"]
    }

    /// - Throws: ``Query/Problem``.
    func correction() throws -> Correction {
        switch kind {
        case .undo: .undo(try UndoRun.Target(written: to))
        case .replay: .replay(all: all)
        case .purge: .purge
        }
    }

    /// Returns the address of a part of what it would do, or with a digest that of doing it.
    ///
    /// - Parameter seen: the last run of the source when this was shown, to ask whether it is out of date.
    func address(
        _ part: ChangePart? = nil, suffix: String = "", apply: String? = nil, seen: Int64? = nil
    ) -> String {
        let (all, seen) = (all ? "true" : nil, seen.map(String.init))
        return Query(
            [("to", to), ("all", all)] + (part?.values ?? []) + [("apply", apply), ("seen", seen)]
        ).address(PageAddress.path(source, "/\(kind.rawValue)\(suffix)"))
    }

    var title: String {
        switch kind {
        case .undo:
            to.map { "Restore \(source) to \(Int64($0) == nil ? $0 : "run \($0)")" }
                ?? "Undo the last change of \(source)"
        case .replay: "Replay \(source)"
        case .purge: "Purge \(source)"
        }
    }
}

extension UndoRun.Target {
    /// - Parameter text: the number of a run, or a time; nil for the last change.
    /// - Throws: ``Query/Problem``.
    init(written text: String?) throws {
        guard let text else {
            self = .lastChange
            return
        }
        if let number = Int64(text), number >= 0 {
            self = .run(number)
        } else if let time = WrittenTime.date(text) {
            self = .time(time)
        } else {
            throw Query.Problem("'to' must be the number of a run, or a time such as 2026-11-17T14:30Z")
        }
    }
}
