extension String {
    /// The text without the user and password of the addresses in it.
    package var withoutUserInfo: String { replacing(#/:\/\/[^\/?\#@]*@/#, with: "://") }

    /// Returns the text, or its beginning and an ellipsis where it is longer than `most` Unicode scalars.
    package func shortened(to most: Int) -> String {
        guard utf8.count > most, unicodeScalars.dropFirst(most).first != nil else { return self }
        return String(String.UnicodeScalarView(unicodeScalars.prefix(most))) + "…"
    }
}
