/// The names of elements and attributes, with numbers that are the same in every document a session reads.
final class ElementNames {
    /// A value instead of a name's number: the current document has not used the name yet.
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

    /// Forgets the numbers of the last document's names. Each document has its own.
    func beginDocument() { ofDocument.removeAll() }

    /// - Parameter index: the name's number among those of the current document.
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
