/// Parts of SVG images. Numbers are rounded to tenths.
enum SVG {
    /// - Parameter id: the element that names the image.
    static func image(_ width: Double, _ height: Double, labelledBy id: String, _ body: String) -> String {
        """
        <svg viewBox="0 0 \(number(width)) \(number(height))" role="img" aria-labelledby="\(id)">\(body)</svg>
        """
    }

    /// - Parameter kind: a class of `page.css`.
    static func rect(
        _ kind: String, x: Double, y: Double, width: Double, height: Double, _ content: String = ""
    ) -> String {
        """
        <rect class="\(kind)" x="\(number(x))" y="\(number(y))" width="\(number(width))" height="\(number(height))">\
        \(content)</rect>
        """
    }

    /// - Parameters:
    ///   - isCentred: true for a text whose middle is at the height, false for one whose foot is.
    ///   - attributes: further attributes, each after a space.
    static func label(
        _ text: String, x: Double, y: Double, anchor: String = "start", isCentred: Bool = false, attributes: String = ""
    ) -> String {
        let baseline = isCentred ? " dominant-baseline=\"middle\"" : ""
        return """
            <text class="label" x="\(number(x))" y="\(number(y))" text-anchor="\(anchor)"\(baseline)\(attributes)>\(text)</text>
            """
    }

    static func number(_ value: Double) -> String {
        let tenths = (value * 10).rounded() / 10
        return tenths == tenths.rounded() ? String(Int(tenths)) : String(tenths)
    }
}
