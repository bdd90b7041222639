import FeedConfiguration
import Foundation
import HTTPTypes
import Hummingbird
import TributaryEngine

/// An undo, a replay or a purge of a source as an address says it: `/sources/shop/undo?to=41`.
struct CorrectionAddress: Sendable {
    let source: String
    let operation: CorrectionOperation
    /// How it is written for programs; nil for a page.
    let format: FileFormat?
    /// The value of the operation's parameter.
    let value: String?
    let correction: Correction
    let part: ChangePart
    /// The digest of what was shown, where it is to be done.
    let apply: String?

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
        guard let operation = CorrectionOperation.all.first(where: { $0.name == name }) else { return nil }
        self.format = format
        self.operation = operation
        source = names[1]
        value = operation.parameter.flatMap { query[$0.name] }
        correction = try operation.correction(query)
        part = try ChangePart(query)
        apply = query["apply"]
    }

    /// Returns the address of a part of what it would do, or with a digest that of doing it.
    ///
    /// - Parameter seen: the last run of the source when this was shown, to ask whether it is out of date.
    func address(
        _ part: ChangePart? = nil, suffix: String = "", apply: String? = nil, seen: Int64? = nil
    ) -> String {
        let own = operation.parameter.map { [($0.name, value)] } ?? []
        return Query(own + (part?.values ?? []) + [("apply", apply), ("seen", seen.map(String.init))])
            .address(PageAddress.path(source, "/\(operation.name)\(suffix)"))
    }

    var title: String { operation.title(source, value) }
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
