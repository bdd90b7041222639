import FeedConfiguration

/// One column of a proposed table.
struct ProposedColumn {
    enum Source {
        case path(String)
        /// The key of the enclosing record of this table.
        case parent(String)
        /// The position, and the element to count in if that is not the enclosing one.
        case ordinal(String?)
    }

    var name: String
    var source: Source
    var type = ValueType.text
    /// The schema's declaration of the values.
    var declared: DeclaredValue?
    var writing: ValueWriting?
    var isRequired = false
    /// True for times without an offset.
    var lacksOffset = false
    /// The table and column that the value refers to: `stop(id)`.
    var references: String?
    /// Why it refers to them, where no schema says it.
    var reason: String?

    /// The text after the column's name: `"@id"` or `{ path = "@id", type = "integer" }`.
    var declaration: String {
        switch source {
        case .ordinal(let count): return "{ ordinal = \(count.map(TOMLText.string) ?? "true") }"
        case .parent(let table): return "{ parent = \(TOMLText.string(table)) }"
        case .path(let path):
            var keys = [("path", TOMLText.string(path))]
            if type != .text { keys.append(("type", TOMLText.string(type.rawValue))) }
            if type == .blob, let format = declared?.format { keys.append(("format", TOMLText.string(format))) }
            keys += writing?.keys ?? []
            if isRequired { keys.append(("required", "true")) }
            if let references { keys.append(("references", TOMLText.string(references))) }
            guard keys.count > 1 else { return TOMLText.string(path) }
            return "{ " + keys.map { "\($0) = \($1)" }.joined(separator: ", ") + " }"
        }
    }

    /// What a schema says beside the type, or how sure the keys are, as a comment; nil where nothing is to be said.
    var comment: String? {
        guard lacksOffset else { return meaning }
        let zone = "without an offset: read as UTC, or in the time_zone of the column or source"
        return meaning.map { "\($0); \(zone)" } ?? zone
    }

    private var meaning: String? {
        guard let declared else {
            // Both are made of short values and names.
            return (writing?.comment ?? reason).map { DeclaredValue.line($0, longest: .max) }
        }
        guard type == .text, declared.type != .text else { return declared.comment }
        let type = "\(declared.type.rawValue) in the schema, which not all values of the document are"
        return declared.comment.map { "\(type); \($0)" } ?? type
    }
}
