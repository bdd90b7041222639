import Foundation

/// The fields of JSON objects, as paths: `requests[].key`.
struct JSONFields {
    /// What a page says of fields: each with its meaning.
    struct Described {
        var fields: [String: String] = [:]

        /// Reads the tables `| field | is |` of a section.
        init(_ section: [String]) {
            var isTable = false
            for line in section {
                let cells = line.cells
                if cells.count != 2 { isTable = false }
                if cells == ["field", "is"] { isTable = true }
                guard isTable else { continue }
                for word in cells[0].codeWords { fields[word, default: ""] += cells[1] + "; " }
            }
        }

        /// Returns true where a field is described, or is within an object whose fields are the rows' own.
        func covers(_ field: String) -> Bool {
            if fields[field] != nil { return true }
            return fields.contains { name, meaning in
                (field.hasPrefix(name + ".") || field.hasPrefix(name + "[]")) && meaning.contains("object")
            }
        }
    }

    var found: Set<String> = []

    /// Adds the fields of a text: one JSON value a line.
    mutating func add(_ text: String) throws {
        for line in text.split(separator: "\n") {
            add(try JSONSerialization.jsonObject(with: Data(line.utf8)), "")
        }
    }

    private mutating func add(_ value: Any, _ path: String) {
        if let object = value as? [String: Any] {
            for (key, value) in object {
                let path = path.isEmpty ? key : "\(path).\(key)"
                found.insert(path)
                add(value, path)
            }
        } else if let array = value as? [Any] {
            for element in array { add(element, path.isEmpty ? "" : path + "[]") }
        }
    }
}
