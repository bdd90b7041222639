/// The names of elements and attributes, numbered: by the same numbers in every document that a session reads.
final class ElementNames {
    /// In place of a name's number: one that the document under way has not used yet.
    private static let unknown: Int32 = -1

    private var texts: [String] = []
    private var numbers: [String: Int32] = [:]
    @exclusivity(unchecked) private var ofDocument = FlatArray<Int32>()

    var count: Int { texts.count }

    subscript(number: Int32) -> String { texts[Int(number)] }

    func number(of text: String) -> Int32 {
        if let number = numbers[text] { return number }
        let number = Int32(texts.count)
        texts.append(text)
        numbers[text] = number
        return number
    }

    /// Another document gives its names other numbers.
    func beginDocument() { ofDocument.removeAll() }

    /// - Parameter index: the name's number among those of the document under way.
    @inline(__always)
    func number(ofDocument index: Int32, _ text: @autoclosure () -> String) -> Int32 {
        if Int(index) < ofDocument.count, ofDocument[index] != Self.unknown { return ofDocument[index] }
        let number = number(of: text())
        if Int(index) >= ofDocument.count {
            ofDocument.append(repeating: Self.unknown, count: Int(index) + 1 - ofDocument.count)
        }
        ofDocument[index] = number
        return number
    }
}
