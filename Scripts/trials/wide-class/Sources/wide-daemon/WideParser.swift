import Tributary

/// `<rows><row id="1" attr000="…" attr002="…" …/>…</rows>`
final class WideParser: FeedParser {
    override class var tables: [String] { ["wide"] }

    override func didStartElement() throws {
        guard element == "row" else { return }
        var row = WideRow()
        bind(&row.id, attribute: "id")
        row.take(attributes)
        try context.insert(row)
    }
}
