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
        func line(_ number: Double, _ name: String, _ other: Int, _ kind: String) -> String {
            let (keptWidth, otherWidth) = (Double(kept) * scale, Double(other) * scale)
            let (top, middle) = (number * Self.step, number * Self.step + Self.bar / 2)
            func rect(_ kind: String, _ x: Double, _ width: Double) -> String {
                guard width > 0 else { return "" }
                return """
                    <rect class="\(kind)" x="\(Self.short(x))" y="\(Self.short(top))" \
                    width="\(Self.short(max(width, 1)))" height="\(Self.short(Self.bar))"/>
                    """
            }
            func label(_ text: String, _ x: Double, _ anchor: String) -> String {
                """
                <text class="label" x="\(Self.short(x))" y="\(Self.short(middle))" text-anchor="\(anchor)" \
                dominant-baseline="middle">\(text)</text>
                """
            }
            return label(name, Self.left - 6, "end") + rect("unchanged", Self.left, keptWidth)
                + rect(kind, Self.left + keptWidth, otherWidth)
                + label((kept + other).grouped, Self.left + keptWidth + otherWidth + 6, "start")
        }
        svg = """
            <svg viewBox="0 0 \(Int(Self.width)) \(Int(Self.step + Self.bar))" role="img" aria-labelledby="\(id)">\
            \(line(0, "Before", counts.deleted, "deleted"))\(line(1, "After", counts.inserted, "inserted"))</svg>
            """
    }

    private static func short(_ value: Double) -> String { String((value * 10).rounded() / 10) }
}
