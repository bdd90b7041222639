import XMLStream

/// Gathers the whole content of an element while it passes: the text of all descendants, or the markup.
struct ElementCollector {
    let capture: PathNode.Capture
    let depth: Int
    private let isMarkup: Bool
    private var writer = XMLWriter()
    private var text: [UInt8] = []
    /// The prefixes bound inside the markup, element by element.
    private var bindings: [[String: String]] = [[:]]

    init(_ capture: PathNode.Capture, depth: Int) {
        self.capture = capture
        self.depth = depth
        if case .markup = capture.what { isMarkup = true } else { isMarkup = false }
    }

    mutating func start(_ stream: XMLStreamParser) {
        guard isMarkup else { return }
        let name = stream.name
        writer.start(name.qualified)
        var bound = bindings.last ?? [:]
        bind(name, isAttribute: false, in: &bound)
        stream.attributesOfElement.forEach { _, name, value in
            bind(name, isAttribute: true, in: &bound)
            writer.attribute(name.qualified, value)
        }
        bindings.append(bound)
    }

    /// Declares a namespace where the markup, taken for itself, does not.
    private mutating func bind(_ name: XMLName, isAttribute: Bool, in bound: inout [String: String]) {
        let prefix =
            name.qualified.utf8.count > name.local.utf8.count
            ? String(name.qualified.dropLast(name.local.count + 1)) : ""
        if prefix == "xml" || isAttribute && prefix.isEmpty { return }
        let namespace = name.namespace ?? ""
        guard bound[prefix] ?? "" != namespace else { return }
        bound[prefix] = namespace
        writer.attribute(prefix.isEmpty ? "xmlns" : "xmlns:" + prefix, namespace.utf8)
    }

    mutating func append(_ bytes: some Collection<UInt8>) {
        if isMarkup { writer.text(bytes) } else { text.append(contentsOf: bytes) }
    }

    mutating func end(_ name: String) {
        guard isMarkup else { return }
        writer.end(name)
        bindings.removeLast()
    }

    var result: [UInt8] { isMarkup ? writer.bytes : text }
}
