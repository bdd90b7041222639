import FeedModel

/// Two bars as an SVG image: the rows before a commit, with those that it deletes, and after it, with those that it
/// inserts.
struct SizeBars {
    /// The element that names the image.
    let id = "size-title"
    let title: String
    let svg: String

    private static let (width, bar, step, left) = (720.0, 20.0, 30.0, 84.0)
    /// The room for the number behind a bar.
    private static let right = 120.0

    /// - Returns: nil where no row is deleted or inserted.
    init?(_ counts: MergeCounts) {
        guard counts.deleted + counts.inserted > 0 else { return nil }
        let kept = counts.unchanged + counts.updated
        let (before, after) = (kept + counts.deleted, kept + counts.inserted)
        title = "Rows that the run has compared: \(before.grouped) before, \(after.grouped) after"
        let scale = (Self.width - Self.left - Self.right) / Double(max(before, after))
        func line(_ top: Double, _ name: String, _ other: Int, _ kind: String) -> String {
            let (middle, keptEnd) = (top + Self.bar / 2, Self.left + Double(kept) * scale)
            let end = keptEnd + Double(other) * scale
            func rect(_ kind: String, _ start: Double, _ end: Double) -> String {
                end == start
                    ? "" : SVG.rect(kind, x: start, y: top, width: max(end - start, 1), height: Self.bar)
            }
            return SVG.label(name, x: Self.left - 6, y: middle, anchor: "end", isCentred: true)
                + rect("unchanged", Self.left, keptEnd) + rect(kind, keptEnd, end)
                + SVG.label((kept + other).grouped, x: end + 6, y: middle, isCentred: true)
        }
        svg = SVG.image(
            Self.width, Self.step + Self.bar, labelledBy: id,
            line(0, "Before", counts.deleted, "deleted") + line(Self.step, "After", counts.inserted, "inserted"))
    }
}
