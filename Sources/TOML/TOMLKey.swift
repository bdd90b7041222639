/// One of the names in a dotted key or a header.
struct TOMLKey {
    var name: String
    /// Where it begins in the document.
    var position: Int

    /// The name for a message, which does not become as long as a document may be.
    var shown: String { Self.shown(name.unicodeScalars) }

    static func shown(_ text: some Collection<Unicode.Scalar>) -> String {
        let most = 40
        var shown = String(String.UnicodeScalarView(text.prefix(most)))
        if text.dropFirst(most).first != nil { shown += "…" }
        return shown
    }
}
