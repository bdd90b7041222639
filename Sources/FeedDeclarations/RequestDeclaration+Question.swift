import FeedModel

extension RequestDeclaration {
    /// A fingerprint that changes whenever another document would be requested, whatever is made of it.
    package var questionFingerprint: String { Fingerprint.hexadecimal(question.joined(separator: "\u{0}")) }

    /// What decides which document is requested.
    var question: [String] {
        func list(_ values: [String: InterpolatedText]) -> String {
            values.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value.value)" }.joined(separator: "\u{1}")
        }
        return [
            url.value, method, list(headers), list(parameters), body?.text.value ?? "",
            authentication?.identity ?? "", forEach?.query ?? "",
        ]
    }
}
