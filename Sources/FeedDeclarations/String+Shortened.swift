extension String {
    /// A text without the user and password of the addresses in it.
    package var withoutUserInfo: String { replacing(#/:\/\/[^\/?\#@]*@/#, with: "://") }

    /// Itself, or its beginning and an ellipsis where it is longer than a message may be.
    package func shortened(to most: Int) -> String {
        guard utf8.count > most, unicodeScalars.dropFirst(most).first != nil else { return self }
        return String(String.UnicodeScalarView(unicodeScalars.prefix(most))) + "…"
    }
}
