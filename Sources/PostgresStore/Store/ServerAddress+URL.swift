import Foundation

extension ServerAddress {
    /// The address as a URI that libpq understands, for messages. It never holds a password.
    var url: String {
        let isSocket = host.hasPrefix("/") || host.hasPrefix("@")
        let hasPort = !port.isEmpty && port != "5432"
        var text = "postgresql://" + (user.isEmpty ? "" : Self.encoded(user) + "@")
        if !isSocket {
            text += host.contains(":") ? "[\(host)]" : host
            if hasPort { text += ":" + port }
        }
        text += "/" + Self.encoded(database)
        if isSocket { text += "?host=\(host)" + (hasPort ? "&port=\(port)" : "") }
        return text
    }

    private static func encoded(_ part: String) -> String {
        part.addingPercentEncoding(
            withAllowedCharacters: .urlUserAllowed.subtracting(CharacterSet(charactersIn: ":/?#@")))
            ?? part
    }
}
