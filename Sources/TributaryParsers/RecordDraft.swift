import Foundation

/// What has been said of a feed, or of an entry, so far.
struct RecordDraft {
    /// Of the element that is the record: what is said of it stands one deeper.
    var depth: Int
    var id = RankedText()
    var title = RankedText()
    var link = RankedText()
    var description = RankedText()
    /// The element that the description came by, where it is one of the feed's own.
    var descriptionElement: String?
    var content = RankedText()
    var language = RankedText()
    var image = RankedText()
    var authors: [String] = []
    var authorRank = Int.max
    var published: (date: Date, rank: Int)?
    var updated: (date: Date, rank: Int)?
    var duration: Int?
    var enclosures: [Enclosure] = []
    var categories: [Category] = []

    init(depth: Int) { self.depth = depth }

    /// In the order in which they are named.
    var author: String? { authors.isEmpty ? nil : authors.joined(separator: ", ") }
}
