import FeedModel
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import TributaryEngine

/// Makes rows of a document: by a declaration, or by one that is inferred.
typealias TryOut = @Sendable (_ subject: Trial.Subject, _ toml: String?) async throws -> Trial

/// The page on which a document's rows are looked at before its source is declared.
struct TryPage: Sendable {
    static let path = "/try"
    /// The most bytes of its form, which writes a character of another alphabet as up to nine.
    static let mostBytes = 4 << 20
    /// The time in which a form must have come.
    private static let timeLimit = Duration.seconds(20)

    let pages: Pages
    /// Nil where nothing is tried out.
    let tryOut: TryOut?

    func add(to router: Router<PageContext>) {
        router.get("/try") { _, context in seen(by: context).form }
        router.post("/try") { request, context in try await seen(by: context).act(request) }
    }

    private func seen(by context: PageContext) -> TryPage {
        TryPage(pages: pages.seen(by: context), tryOut: tryOut)
    }

    private var form: Response {
        guard tryOut != nil else { return off }
        guard pages.mayChange else {
            return pages.missing("The 'read_token' of [daemon] cannot try a URL; use 'token'.", .forbidden)
        }
        return answer(Entry(), nil, .ok)
    }

    private var off: Response {
        pages.missing("Trying a URL is disabled: [daemon] has rows = false, or no 'token'.")
    }

    private func act(_ request: Request) async throws -> Response {
        guard let tryOut else { return off }
        guard let form = try await self.form(request) else {
            return pages.missing(
                "The form did not arrive within \(Self.timeLimit.components.seconds) s.", .requestTimeout)
        }
        var entry = Entry()
        entry.address = form["url"]?.trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
        entry.document = form["document"].map(Self.lines) ?? ""
        let isInferred = form["do"] != "rows"
        entry.toml = isInferred ? "" : form["toml"].map(Self.lines) ?? ""
        guard !entry.address.isEmpty || !entry.document.isEmpty else {
            entry.problems = ["Enter an address or paste a document."]
            return answer(entry, nil, .badRequest)
        }
        let subject: Trial.Subject = entry.document.isEmpty ? .address(entry.address) : .document(entry.document)
        do {
            let trial = try await tryOut(subject, isInferred ? nil : entry.toml)
            pages.logger.info("Document tried on the page")
            entry.toml = trial.toml
            entry.problems = trial.problems
            return answer(entry, trial, .ok)
        } catch let refusal as Refusal {
            entry.problems = [refusal.description]
            // What somebody has written stays.
            return answer(
                entry, isInferred ? nil : Trial(toml: entry.toml), refusal.isBusy ? .serviceUnavailable : .ok)
        }
    }

    /// Returns the fields of a form; nil where it does not come in time.
    private func form(_ request: Request) async throws -> Query? {
        try await withThrowingTaskGroup(of: Query?.self) { group in
            defer { group.cancelAll() }
            group.addTask {
                let body = try await request.body.collect(upTo: Self.mostBytes)
                return Query(String(buffer: body))
            }
            group.addTask {
                try await Task.sleep(for: Self.timeLimit)
                return nil
            }
            return try await group.next() ?? nil
        }
    }

    /// Returns a text as it was before a form wrote its line ends as two characters.
    private static func lines(_ text: String) -> String { text.replacing("\r\n", with: "\n") }

    private func answer(_ entry: Entry, _ trial: Trial?, _ status: HTTPResponse.Status) -> Response {
        let view: View = ["address": entry.address, "document": entry.document, "problems": entry.problems]
        var fragments = [pages.templates.fragment("try", view)]
        if let trial { fragments.append(pages.templates.fragment("trial", trial.view(of: entry))) }
        return pages.answer(
            Page(title: "Try a URL", fragments: fragments),
            at: [Link(name: "Try a URL", address: Self.path, isHere: true)], status)
    }
}

extension TryPage {
    /// What somebody has entered, and what is wrong with it.
    fileprivate struct Entry {
        var address = ""
        var document = ""
        var toml = ""
        var problems: [String] = []
    }
}

extension Trial {
    /// The most characters of a value, and columns of a table, that are shown.
    private static let (longest, mostColumns) = (200, 40)

    fileprivate func view(of entry: TryPage.Entry) -> View {
        var notes = notes
        if tables.contains(where: { $0.columns.count > Self.mostColumns }) {
            notes.append("Only the first \(Self.mostColumns) columns of a table are shown.")
        }
        return [
            "hasTOML": !toml.isEmpty, "toml": toml, "address": entry.address, "document": entry.document,
            "tables": tables.map(Self.view), "unmapped": unmapped, "hasUnmapped": !unmapped.isEmpty,
            "empty": empty.isEmpty ? nil : empty.joined(separator: ", "), "notes": notes,
        ]
    }

    private static func view(_ table: Table) -> View {
        let key = Set(table.key.map { $0.lowercased() })
        let names = table.columns.prefix(mostColumns)
        let columns: [View] = names.map { ["name": $0, "isKey": key.contains($0.lowercased())] }
        let rows: [View] = table.rows.map { row in
            let cells: [View] = zip(names, row).map { name, value in
                let text = value.fieldText
                let shown: String = text.count > longest ? text.prefix(longest) + " …" : text
                return ["name": name, "text": shown, "isNull": value == .null]
            }
            return ["cells": cells]
        }
        return [
            "name": table.table, "reason": table.reason, "count": Figures.count(table.count, "row"),
            "shown": table.rows.count, "isCut": table.rows.count < table.count, "columns": columns, "rows": rows,
        ]
    }
}
