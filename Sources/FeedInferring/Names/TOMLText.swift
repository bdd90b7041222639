/// The notation of names and values in a `sources.toml`.
package enum TOMLText {
    /// Returns a basic string. `${` is doubled because a configuration replaces `${NAME}`.
    static func string(_ text: String) -> String { quoted(text.replacing("${", with: "$${")) }

    /// Returns a basic string, in which a configuration replaces `${NAME}`.
    package static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\r": quoted += "\\r"
            case "\t": quoted += "\\t"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F:
                let digits = String(scalar.value, radix: 16, uppercase: true)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }

    /// Returns a bare key where the name allows it, else a quoted one.
    static func key(_ name: String) -> String {
        let isBare =
            !name.isEmpty
            && name.unicodeScalars.allSatisfy {
                $0.isASCII && ($0.properties.isAlphabetic || ("0"..."9").contains($0) || $0 == "_" || $0 == "-")
            }
        return isBare ? name : string(name)
    }

    static func strings(_ texts: [String]) -> String { "[" + texts.map(string).joined(separator: ", ") + "]" }
}
