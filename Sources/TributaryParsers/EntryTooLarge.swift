/// What a feed says of itself, or in one entry and those that it lies in, is more than a parser keeps.
struct EntryTooLarge: Error, CustomStringConvertible {
    var limit: Int

    var description: String { "more than \(limit >> 20) MiB are in one entry, or said of the feed itself" }
}
