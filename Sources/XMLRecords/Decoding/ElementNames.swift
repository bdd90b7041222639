import XMLStream

/// The names of elements and attributes, with numbers that are the same in every document a session reads.
final class ElementNames {
    /// A value instead of a name's number: the current document has not used the name yet.
    private static let unknown: Int32 = -1

    private var texts: [String] = []
    private var numbers: [String: Int32] = [:]
    @exclusivity(unchecked) private var ofDocument = FlatArray<ElementName>()

    var count: Int { texts.count }

    subscript(number: Int32) -> String { texts[Int(number)] }

    private func number(of text: String) -> Int32 {
        if let number = numbers[text] { return number }
        let number = Int32(texts.count)
        texts.append(text)
        numbers[text] = number
        return number
    }

    /// Returns a name as a record writes it.
    ///
    /// A prefix among `namespaces` stands for its namespace, whatever prefix the document has for that, and any other
    /// prefix for itself. A name without a prefix is found where the document writes it without one, and, if
    /// `namespaces` has the prefix `""`, as an element's also in that namespace.
    func name(_ text: String, _ namespaces: [String: String], isAttribute: Bool = false) -> ElementName {
        guard let colon = text.firstIndex(of: ":") else {
            let namespace = isAttribute ? nil : namespaces[""]
            return ElementName(written: number(of: text), expanded: namespace.map { expanded(text, $0) })
        }
        guard let namespace = namespaces[String(text[..<colon])] else {
            return ElementName(written: number(of: text), expanded: nil)
        }
        return ElementName(written: nil, expanded: expanded(String(text[colon...].dropFirst()), namespace))
    }

    private func expanded(_ local: String, _ namespace: String) -> Int32 { number(of: "{" + namespace + "}" + local) }

    /// Forgets the numbers of the last document's names. Each document has its own.
    func beginDocument() { ofDocument.truncate(to: 0) }

    /// - Parameter index: the name's number among those of the current document.
    @inline(__always)
    func name(ofDocument index: Int32, _ name: @autoclosure () -> XMLName) -> ElementName {
        if Int(index) < ofDocument.count, ofDocument[index].written != Self.unknown { return ofDocument[index] }
        return learn(index, name())
    }

    private func learn(_ index: Int32, _ name: XMLName) -> ElementName {
        if Int(index) >= ofDocument.count {
            let unknown = ElementName(written: Self.unknown, expanded: nil)
            ofDocument.append(repeating: unknown, count: Int(index) + 1 - ofDocument.count)
        }
        ofDocument[index] = ElementName(
            written: number(of: name.qualified), expanded: name.namespace.map { expanded(name.local, $0) })
        return ofDocument[index]
    }
}

/// A name by its numbers in a session: as it is written, and by its namespace.
struct ElementName: BitwiseCopyable, Hashable {
    /// The number of the name with its prefix; negative in a path whose prefix is bound to a namespace.
    let written: Int32
    /// The number of the local name with its namespace; negative without one.
    let expanded: Int32

    /// A path's test that any name passes.
    static let any = ElementName(written: -4, expanded: -5)

    /// - Parameters:
    ///   - written: nil if only the namespace counts.
    ///   - expanded: nil without a namespace.
    init(written: Int32?, expanded: Int32?) {
        self.init(written: written ?? -2, expanded: expanded ?? -3)
    }

    private init(written: Int32, expanded: Int32) {
        self.written = written
        self.expanded = expanded
    }

    /// Returns true if a name of a document is one that this name of a path finds.
    @inline(__always)
    func finds(_ name: ElementName) -> Bool {
        written == name.written || expanded >= 0 && expanded == name.expanded
    }
}
