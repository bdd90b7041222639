import Foundation

/// Keeps values that came from the environment or from files out of texts that others have written: errors of
/// libraries, addresses that servers redirect to.
///
/// Our own messages show templates and need no redaction. Values of fewer than four characters are left alone: they
/// occur by chance, and hiding them would say more than showing them.
public struct Redactor: Sendable, Equatable {
    private let secrets: [String]

    init(secrets: some Sequence<String> = []) {
        let encoded = secrets.flatMap { secret in
            [
                secret, HTTPTarget.encoded(secret),
                secret.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? secret,
                secret.addingPercentEncoding(withAllowedCharacters: .urlQueryAllowed) ?? secret,
            ]
        }
        // Longer ones first: one value may hold another.
        self.secrets = Set(encoded.filter { $0.count >= 4 }).sorted { $0.count > $1.count }
    }

    public func redact(_ text: String) -> String {
        secrets.reduce(text) { $0.replacingOccurrences(of: $1, with: "[secret]") }
    }
}
