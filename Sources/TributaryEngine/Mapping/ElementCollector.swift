import XMLStream

/// Gathers the markup of an element while it passes.
struct ElementCollector {
    let capture: PathNode.Capture
    let depth: Int
    private var writer = XMLWriter()
    /// What each prefix is bound to inside the markup, the innermost last.
    private var bound: [String: [String]] = [:]
    /// The prefixes that the open elements bind, element by element.
    private var prefixes: [[String]] = []

    init(_ capture: PathNode.Capture, depth: Int) {
        self.capture = capture
        self.depth = depth
    }

    mutating func start(_ stream: XMLStreamParser) {
        let name = stream.name
        writer.start(name.qualified)
        prefixes.append([])
        bind(name, isAttribute: false)
        stream.attributesOfElement.forEach { _, name, value in
            bind(name, isAttribute: true)
            writer.attribute(name.qualified, value)
        }
    }

    /// Declares a namespace where the markup, taken for itself, does not.
    private mutating func bind(_ name: XMLName, isAttribute: Bool) {
        let prefix =
            name.qualified.utf8.count > name.local.utf8.count
            ? String(name.qualified.utf8.dropLast(name.local.utf8.count + 1)) ?? "" : ""
        if prefix == "xml" || isAttribute && prefix.isEmpty { return }
        let namespace = name.namespace ?? ""
        guard bound[prefix]?.last ?? "" != namespace else { return }
        bound[prefix, default: []].append(namespace)
        prefixes[prefixes.count - 1].append(prefix)
        writer.attribute(prefix.isEmpty ? "xmlns" : "xmlns:" + prefix, namespace.utf8)
    }

    mutating func append(_ bytes: some Collection<UInt8>) { writer.text(bytes) }

    mutating func end(_ name: String) {
        writer.end(name)
        for prefix in prefixes.popLast() ?? [] { bound[prefix]?.removeLast() }
    }

    var count: Int { writer.bytes.count }

    var result: [UInt8] { writer.bytes }
}
