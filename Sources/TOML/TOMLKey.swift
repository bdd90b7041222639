/// One of the names in a dotted key or a header.
struct TOMLKey {
    var name: String
    /// The offset in the document at which the name begins.
    var position: Int

    /// The name for a message, shortened, because a document's names may be very long.
    var shown: String { Self.shown(name.unicodeScalars) }

    static func shown(_ text: some Collection<Unicode.Scalar>) -> String {
        let most = 40
        var shown = String(String.UnicodeScalarView(text.prefix(most)))
        if text.dropFirst(most).first != nil { shown += "…" }
        return shown
    }
}
