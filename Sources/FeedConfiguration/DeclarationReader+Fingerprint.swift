import FeedModel

extension DeclarationReader {
    /// Returns the fingerprint of the values of some keys, with `${…}` replaced. Their place in the file does not
    /// matter.
    ///
    /// The text whose hash it is distinguishes values of different types, and nested ones.
    func fingerprint(of keys: [String]) -> String {
        var hash = Fingerprint.empty
        for key in keys {
            guard let value = nodes[key] else { continue }
            append(key, to: &hash)
            append(value, to: &hash)
        }
        return Fingerprint.hexadecimal(hash)
    }

    private func append(_ value: TOMLValue, to hash: inout UInt64) {
        switch value {
        case .string(let template): append(interpolated(template), to: &hash)
        case .integer(let number): add("i\(number),", to: &hash)
        case .float(let number): add("f\(number),", to: &hash)
        case .boolean(let flag): add(flag ? "t," : "f,", to: &hash)
        case .date(let date): add("d\(date),", to: &hash)
        case .array(let nodes):
            add("[", to: &hash)
            for node in nodes { append(node.value, to: &hash) }
            add("]", to: &hash)
        case .table(let table):
            add("{", to: &hash)
            for entry in table.entries {
                append(entry.key, to: &hash)
                append(entry.node.value, to: &hash)
            }
            add("}", to: &hash)
        }
    }

    /// Appends a string with its length before it, as in a netstring, so that no text can pass for the end of another.
    private func append(_ string: String, to hash: inout UInt64) {
        add("s\(string.utf8.count):", to: &hash)
        add(string, to: &hash)
        add(",", to: &hash)
    }

    private func add(_ text: String, to hash: inout UInt64) { hash = Fingerprint.hash(text, after: hash) }
}
