import FeedModel
import TOML

extension DeclarationReader {
    /// Returns the fingerprint of the values of some keys, with `${…}` replaced. Their place in the file does not
    /// matter.
    ///
    /// The text behind it distinguishes values of different types, and nested ones.
    func fingerprint(of keys: [String]) -> String {
        var text = ""
        for key in keys {
            guard let value = nodes[key] else { continue }
            append(key, to: &text)
            append(value, to: &text)
        }
        return Fingerprint.hexadecimal(text)
    }

    private func append(_ value: TOMLValue, to text: inout String) {
        switch value {
        case .string(let template): append(interpolated(template), to: &text)
        case .integer(let number): text += "i\(number),"
        case .float(let number): text += "f\(number),"
        case .boolean(let flag): text += flag ? "t," : "f,"
        case .date(let date): text += "d\(date),"
        case .array(let nodes):
            text += "["
            for node in nodes { append(node.value, to: &text) }
            text += "]"
        case .table(let table):
            text += "{"
            for entry in table.entries {
                append(entry.key, to: &text)
                append(entry.node.value, to: &text)
            }
            text += "}"
        }
    }

    /// Appends a string with its length before it, as in a netstring, so that no text can pass for the end of another.
    private func append(_ string: String, to text: inout String) {
        text += "s\(string.utf8.count):\(string),"
    }
}
