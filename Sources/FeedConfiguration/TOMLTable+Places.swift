import FeedModel

extension TOMLTable {
    /// Returns the place of a key, or of the nearest table around it, and whether it is the key's own; nil where even the
    /// first name of the path is missing.
    func place(of path: TOMLKeyPath) -> (place: TOMLPlace, isOwn: Bool)? {
        var place: TOMLPlace?
        var value = TOMLValue.table(self)
        for component in path.components {
            guard let node = value[component] else { return place.map { ($0, false) } }
            place = node.place
            value = node.value
        }
        return place.map { ($0, true) }
    }

    /// Calls `body` for each key and string that contains a NUL, which TOML can write but nothing else can hold.
    func forEachNUL(_ body: (TOMLKeyPath) -> Void) {
        forEachText { path, text in if text.utf8.contains(0) { body(path()) } }
    }

    /// Calls `body` for each key and string.
    func forEachText(_ body: (_ path: () -> TOMLKeyPath, _ text: String) -> Void) {
        TOMLValue.table(self).forEachText(at: { TOMLKeyPath() }, hasKeys: true, body)
    }

    /// Calls `body` for each string that is a value.
    func forEachString(_ body: (_ path: () -> TOMLKeyPath, _ text: String) -> Void) {
        TOMLValue.table(self).forEachText(at: { TOMLKeyPath() }, hasKeys: false, body)
    }
}

extension TOMLValue {
    fileprivate subscript(component: TOMLKeyPath.Component) -> TOMLNode? {
        switch (component, self) {
        case (.key(let key), .table(let table)): table.node(key)
        case (.index(let index), .array(let nodes)) where nodes.indices.contains(index): nodes[index]
        default: nil
        }
    }

    fileprivate func forEachText(
        at path: @escaping () -> TOMLKeyPath, hasKeys: Bool, _ body: (_ path: () -> TOMLKeyPath, _ text: String) -> Void
    ) {
        switch self {
        case .string(let text): body(path, text)
        case .array(let nodes):
            for (index, node) in nodes.enumerated() {
                node.value.forEachText(at: { path().appending(index) }, hasKeys: hasKeys, body)
            }
        case .table(let table):
            for entry in table.entries {
                let place = { path().appending(entry.key) }
                if hasKeys { body(place, entry.key) }
                entry.node.value.forEachText(at: place, hasKeys: hasKeys, body)
            }
        case .integer, .float, .boolean, .date: break
        }
    }
}
