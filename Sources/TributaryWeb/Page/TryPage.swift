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

    private(set) var pages: Pages
    /// Nil where nothing is tried out.
    let tryOut: TryOut?

    func add(to router: Router<PageContext>) {
        router.get("/try") { _, context in
            let own = seen(by: context)
            guard tryOut != nil else { return own.off }
            guard context.mayChange else {
                return own.pages.missing("The 'read_token' of [daemon] cannot try a URL; use 'token'.", .forbidden)
            }
            return own.answer(View(), nil, .ok)
        }
        router.post("/try") { request, context in try await seen(by: context).act(request) }
    }

    private func seen(by context: PageContext) -> TryPage {
        var own = self
        own.pages = pages.seen(by: context)
        return own
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
        var view = View()
        view.address = form["url"]?.trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
        view.document = form["document"].map(Self.lines) ?? ""
        let isInferred = form["do"] != "rows"
        view.toml = isInferred ? "" : form["toml"].map(Self.lines) ?? ""
        guard !view.address.isEmpty || !view.document.isEmpty else {
            view.problems = ["Enter an address or paste a document."]
            return answer(view, nil, .badRequest)
        }
        let subject: Trial.Subject = view.document.isEmpty ? .address(view.address) : .document(view.document)
        do {
            let trial = try await tryOut(subject, isInferred ? nil : view.toml)
            pages.logger.info("Document tried on the page")
            view.toml = trial.toml
            view.problems = trial.problems
            return answer(view, trial, .ok)
        } catch let refusal as Refusal {
            view.problems = [refusal.description]
            // What somebody has written stays.
            return answer(
                view, isInferred ? nil : Trial(toml: view.toml), refusal.isBusy ? .serviceUnavailable : .ok)
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

    private func answer(_ view: View, _ trial: Trial?, _ status: HTTPResponse.Status) -> Response {
        var fragments = [Fragment("try", pages.templates.render("try", view))]
        if let trial { fragments.append(Fragment("trial", pages.templates.render("trial", TrialView(trial, view)))) }
        return pages.answer(
            Page(title: "Try a URL", fragments: fragments),
            at: [Layout.Place(name: "Try a URL", address: Self.path, isHere: true)], status)
    }
}

extension TryPage {
    fileprivate struct View {
        var address = ""
        var document = ""
        var toml = ""
        var problems: [String] = []
    }

    fileprivate struct TrialView {
        struct Table {
            var name: String
            var reason: String?
            var count: String
            var shown: Int
            var isCut: Bool
            var columns: [Column]
            var rows: [Row]
        }

        struct Column {
            var name: String
            var isKey: Bool
        }

        struct Row { var cells: [Cell] }

        struct Cell {
            var name: String
            var text: String
            var isNull: Bool
        }

        /// The most characters of a value that are shown.
        private static let longest = 200
        /// The most columns of a table that are shown.
        private static let mostColumns = 40

        var hasTOML: Bool
        var toml: String
        var address: String
        var document: String
        var tables: [Table]
        var unmapped: [Trial.Unmapped]
        var hasUnmapped: Bool
        var empty: String?
        var notes: [String]

        init(_ trial: Trial, _ view: View) {
            hasTOML = !trial.toml.isEmpty
            toml = trial.toml
            address = view.address
            document = view.document
            tables = trial.tables.map { table in
                let key = Set(table.key.map { $0.lowercased() })
                let columns = table.columns.prefix(Self.mostColumns)
                return Table(
                    name: table.table, reason: table.reason, count: Figures.count(table.count, "row"),
                    shown: table.rows.count, isCut: table.rows.count < table.count,
                    columns: columns.map { Column(name: $0, isKey: key.contains($0.lowercased())) },
                    rows: table.rows.map { row in
                        Row(
                            cells: zip(columns, row).map { name, value in
                                let text = value.fieldText
                                return Cell(
                                    name: name,
                                    text: text.count > Self.longest ? text.prefix(Self.longest) + " …" : text,
                                    isNull: value == .null)
                            })
                    })
            }
            unmapped = trial.unmapped
            hasUnmapped = !trial.unmapped.isEmpty
            empty = trial.empty.isEmpty ? nil : trial.empty.joined(separator: ", ")
            notes = trial.notes
            if trial.skipped > 0 { notes.append("\(Figures.count(trial.skipped, "record")) would be skipped.") }
            if trial.tables.contains(where: { $0.columns.count > Self.mostColumns }) {
                notes.append("Only the first \(Self.mostColumns) columns of a table are shown.")
            }
        }
    }
}
