/// What several elements may say of one thing, in words of several vocabularies: the best of them counts.
struct RankedText {
    private(set) var text: String?
    /// What the text is relative to, where it is an address.
    private var base: String?
    private var rank = Int.max

    /// Whether a text would count.
    ///
    /// - Parameters:
    ///   - rank: 0 for the feed's own words, more for those that stand in where there are none.
    ///   - keepsFirst: whether of two texts of one rank the first counts.
    func takes(_ new: String, rank: Int, keepsFirst: Bool) -> Bool {
        guard text != nil else { return true }
        return !new.isEmpty && (rank < self.rank || rank == self.rank && !keepsFirst)
    }

    /// The text as an address: resolved once it is asked for, since most that are said are only said again.
    var address: String? { text.map { URIReference.resolve($0, against: base) } }

    mutating func set(_ new: String, rank: Int, base: String? = nil) {
        text = new
        self.base = base
        // An empty text says that there is none: anything says more.
        self.rank = new.isEmpty ? .max : rank
    }
}
