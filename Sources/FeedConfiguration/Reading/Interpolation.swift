import FeedModel
import Foundation

/// Replaces `${NAME}` from the environment and `${file:PATH}` from a file; `$${` stands for `${` itself.
///
/// Collects the secrets for the redactor, which keeps them out of texts that others print: the contents of files, and
/// the values in secret places (``LiteralSecrets``).
final class Interpolation {
    private let environment: [String: String]
    private let folder: String
    private(set) var secrets: Set<String> = []
    let timeZones: TimeZoneFolder
    /// The key for secrets that the store keeps; nil without one. It is read before what needs it.
    var encryptionKey: EncryptionKey?
    /// True for names of secrets, by name. A cache, because a file repeats few names.
    private var secretNames: [String: Bool] = [:]

    /// - Parameter folder: the folder of relative paths, searched after `$CREDENTIALS_DIRECTORY` (systemd.exec(5)).
    init(environment: [String: String], folder: String) {
        self.environment = environment
        self.folder = folder
        timeZones = TimeZoneFolder(environment: environment)
    }

    /// Returns true if a value at this place is secret.
    func isSecret(_ path: TOMLKeyPath) -> Bool {
        LiteralSecrets.isSecret(path) { name in
            if let known = secretNames[name] { return known }
            let isSecret = LiteralSecrets.isSecret(name)
            secretNames[name] = isSecret
            return isSecret
        }
    }

    /// Keeps a text out of messages. `true` and `false` stay: they reveal nothing, and messages have these words.
    func hide(_ secret: String) { if !["", "true", "false"].contains(secret) { secrets.insert(secret) } }

    /// - Parameters:
    ///   - isSecret: true where the text stands in a secret place.
    ///   - escape: escapes each value; returns nil if that cannot be done.
    func interpolate(
        _ template: String, isSecret: Bool = false, escape: (String) -> String? = { $0 }
    ) throws(Finding) -> InterpolatedText {
        guard !template.utf8.contains(0) else {
            throw Finding("the text has a NUL character (U+0000), which is not allowed")
        }
        guard template.utf8.contains(UInt8(ascii: "$")) else { return InterpolatedText(template) }
        let bytes = Array(template.utf8)
        var value = ""
        // Everything before this index is done.
        var start = 0
        while let sign = Self.reference(in: bytes, from: start) {
            if sign > start, bytes[sign - 1] == UInt8(ascii: "$") {
                value += String(decoding: bytes[start..<sign - 1], as: UTF8.self) + "${"
                start = sign + 2
                continue
            }
            guard let end = bytes[(sign + 2)...].firstIndex(of: UInt8(ascii: "}")) else {
                throw Finding("'${' is never closed", help: "write '$${' for a literal '${'")
            }
            value += String(decoding: bytes[start..<sign], as: UTF8.self)
            let reference = String(decoding: bytes[(sign + 2)..<end], as: UTF8.self)
            let dynamic = try Self.dynamic(reference).map(InterpolatedText.marked)
            let known = dynamic == nil ? escape(try resolve(reference, isSecret)) : nil
            guard let replacement = dynamic ?? known else {
                throw Finding("the value of ${\(reference)} has a character that XML cannot hold")
            }
            value += replacement
            start = end + 1
        }
        guard start > 0 else { return InterpolatedText(template) }
        return InterpolatedText(
            value: value + String(decoding: bytes[start...], as: UTF8.self), template: template)
    }

    /// Returns the index of the next `${`.
    private static func reference(in bytes: [UInt8], from start: Int) -> Int? {
        bytes[start...].indices.first {
            bytes[$0] == UInt8(ascii: "$") && $0 + 1 < bytes.count && bytes[$0 + 1] == UInt8(ascii: "{")
        }
    }

    /// Returns the reference whose value is known only when the request is sent; nil for others.
    private static func dynamic(_ text: String) throws(Finding) -> Reference? {
        guard let reference = Reference(text) else { return nil }
        if case .now(let form) = reference {
            do {
                _ = try RunTime(form)
            } catch {
                throw Finding("${\(text)}: \(error.text)", help: error.help)
            }
        }
        return reference
    }

    private func resolve(_ reference: String, _ isSecret: Bool) throws(Finding) -> String {
        let value: String
        if reference.hasPrefix("file:") {
            value = try read(String(reference.dropFirst("file:".count)))
        } else if let variable = environment[reference] {
            value = variable
        } else if let colon = reference.firstIndex(of: ":") {
            throw Finding(
                "'\(reference[...colon])' is unknown",
                help:
                    "write ${NAME} for a variable, or ${file:…}, ${capture:…}, ${row:…}, ${slice:…}, ${last:…} or ${now:…}"
            )
        } else {
            throw Finding("the environment variable '\(reference)' is not set")
        }
        if isSecret || reference.hasPrefix("file:") { hide(value) }
        return value
    }

    /// Returns the file's text, without the line breaks at its end.
    private func read(_ path: String) throws(Finding) -> String {
        let file = try locate(path)
        var text = try ConfigurationFile.text(named: file)
        guard !text.utf8.contains(0) else { throw Finding("the file \(file) is not UTF-8 text") }
        while let last = text.unicodeScalars.last, last == "\n" || last == "\r" { text.unicodeScalars.removeLast() }
        return text
    }

    /// Returns the path of a file that the configuration names.
    func locate(_ path: String) throws(Finding) -> String {
        var candidates = [URL(fileURLWithPath: path, relativeTo: URL(fileURLWithPath: folder, isDirectory: true)).path]
        if !path.hasPrefix("/"), let credentials = environment["CREDENTIALS_DIRECTORY"] {
            candidates.insert(credentials + "/" + path, at: 0)
        }
        for candidate in candidates where FileManager.default.fileExists(atPath: candidate) { return candidate }
        throw Finding("the file \(candidates.joined(separator: " or ")) does not exist")
    }
}
