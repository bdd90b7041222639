import FeedModel

/// Decides how long a request's validators and kept bodies are valid. Each member is a 64-bit FNV-1a hash of parts of
/// the declaration, which are listed here and nowhere else.
package struct ValidityDigest: Sendable, Equatable {
    /// Changes when another document would be requested. Kept bodies are valid while it stays the same.
    package let question: String
    /// Also changes if the declaration may give other rows for the same document.
    private let rows: String

    init(_ request: RequestDeclaration) {
        let question = [
            request.url.value, request.method, Self.list(request.headers.mapValues(\.value)),
            Self.list(request.parameters.mapValues(\.value)),
            request.body?.text.value ?? "", request.authentication?.identity ?? "", request.forEach?.identity ?? "",
        ]
        let rows = [
            request.contentDigest + (request.newerThan.map { "\u{0}newer \($0)" } ?? ""),
            request.sync.rawValue + (request.window.map { "\u{1}\($0)" } ?? "")
                + (request.deleted.map { "\u{2}\($0)" } ?? "")
                + (request.expiry.map { "\u{3}\($0.column)\u{3}\($0.after)" } ?? ""),
            Self.list(request.scope),
        ]
        self.question = Self.digest(question)
        self.rows = Self.digest(question + rows)
    }

    /// Returns a text that changes when the same document might give other rows. Validators are valid while it stays
    /// the same.
    ///
    /// - Parameter encryptionKey: the key of encrypted columns; nil if the request has none.
    package func validity(parserVersion: Int, encryptionKey: EncryptionKey? = nil) -> String {
        Self.digest([rows, String(parserVersion)] + (encryptionKey.map { [$0.name] } ?? []))
    }

    private static func list(_ values: [String: String]) -> String {
        values.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: "\u{1}")
    }

    fileprivate static func digest(_ parts: [String]) -> String {
        Fingerprint.hexadecimal(parts.joined(separator: "\u{0}"))
    }
}

extension RequestDeclaration {
    /// Returns a text that changes when the same document might give other rows: ``ValidityDigest/validity(parserVersion:encryptionKey:)``.
    package func validity(parserVersion: Int, encryptionKey: EncryptionKey? = nil) -> String {
        digest.validity(parserVersion: parserVersion, encryptionKey: encrypts ? encryptionKey : nil)
    }
}

extension SourceDeclaration {
    /// A text that changes with anything in the request or in its mapping.
    package var validity: String { ValidityDigest.digest(requests.map { $0.validity(parserVersion: 0) }) }

    /// The declaration with its ``identity``, which changes when anything in it does, set.
    var identified: SourceDeclaration {
        var source = self
        for index in source.requests.indices { source.requests[index].derive() }
        let options = requests.map { request in
            "\(request.timeout) \(request.transport.identity) \(request.maxBody) \(request.allowsEmpty) "
                + "\(request.acceptStatus.sorted()) \(request.retries) \(request.retriesUnsafe)"
                + (request.allowsPrivate ? " private" : "") + (request.resumes ? " resumes" : "")
                + (request.keepBodies > 0 ? " \(request.keepBodies)" : "")
                + (request.afterCommit.map { " \($0)" } ?? "")
        }
        let times = "\(cache) \(hasOwnCache) \(honorsMaxAge)" + (schedule.map { " " + $0.identity } ?? "")
        source.identity = ValidityDigest.digest([source.validity, times] + options)
        return source
    }
}
