import Mustache

/// The page's templates, which are in the program itself. Everything that comes from elsewhere is escaped by them.
struct Templates: Sendable {
    private let library: MustacheLibrary

    /// - Throws: where a template is wrong, which a test would have found.
    init() throws {
        var library = MustacheLibrary()
        for (name, bytes) in [
            ("layout", PackageResources.layout_mustache), ("time", PackageResources.time_mustache),
            ("summary", PackageResources.summary_mustache), ("search", PackageResources.search_mustache),
            ("list-start", PackageResources.list_start_mustache), ("list-row", PackageResources.list_row_mustache),
            ("list-end", PackageResources.list_end_mustache), ("missing", PackageResources.missing_mustache),
            ("source", PackageResources.source_mustache), ("actions", PackageResources.actions_mustache),
            ("plots", PackageResources.plots_mustache),
            ("requests", PackageResources.requests_mustache), ("runs", PackageResources.runs_mustache),
            ("tables", PackageResources.tables_mustache), ("table", PackageResources.table_mustache),
            ("causes", PackageResources.causes_mustache), ("row", PackageResources.row_mustache),
            ("run", PackageResources.run_mustache),
            ("changes", PackageResources.changes_mustache), ("change", PackageResources.change_mustache),
            ("review", PackageResources.review_mustache), ("try", PackageResources.try_mustache),
            ("outdated", PackageResources.outdated_mustache), ("trial", PackageResources.trial_mustache),
            ("hooks", PackageResources.hooks_mustache), ("figures", PackageResources.figures_mustache),
            ("hosts", PackageResources.hosts_mustache), ("daemons", PackageResources.daemons_mustache),
            ("due", PackageResources.due_mustache), ("rows", PackageResources.rows_mustache),
            ("sources", PackageResources.sources_mustache), ("sentence", PackageResources.sentence_mustache),
            ("declaration", PackageResources.declaration_mustache), ("run-row", PackageResources.run_row_mustache),
        ] {
            try library.register(String(decoding: bytes, as: UTF8.self), named: name)
        }
        self.library = library
    }

    /// Returns the fragment that is named like its template.
    func fragment(_ name: String, _ view: View) -> Fragment { Fragment(name, render(name, view)) }

    /// - Parameter name: the name of a template that is there; anything else is a mistake of ours.
    func render(_ name: String, _ view: Any) -> String {
        guard let text = library.render(view, withTemplate: name) else { preconditionFailure("no template '\(name)'") }
        return text
    }
}
