/// A feed's own description, or one entry with those that contain it, is larger than a parser keeps.
struct EntryTooLarge: Error, CustomStringConvertible {
    var limit: Int

    var description: String { "more than \(limit >> 20) MiB are in one entry, or said of the feed itself" }
}
