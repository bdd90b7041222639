import FeedDeclarations
import XMLStream

/// A document that is a SOAP message. With a `[soap]` table, the content of its Body is the document.
struct SOAPResponse {
    private let version: SOAPDeclaration.Version
    let body: ElementProfile
    /// The only element of the Body; nil if there are several.
    var content: ElementProfile? { body.children.count == 1 ? body.children[0] : nil }

    /// - Parameter root: the root of the document; nil for one that is no SOAP message.
    init?(_ root: ElementProfile) {
        let version = SOAPDeclaration.Version.allCases.first { $0.namespace == root.name.namespace }
        guard root.name.local == "Envelope", let version,
            let body = root.child(.init(local: "Body", namespace: version.namespace)), !body.children.isEmpty
        else { return nil }
        self.version = version
        self.body = body
    }

    /// Returns the lines of the table with which a request calls the operation, as comments.
    ///
    /// - Parameter request: the key of the request's table: `sources.shop.requests`.
    func comments(_ request: String) -> [String] {
        let name = content?.name.local ?? ""
        let operation = name.hasSuffix("Response") ? String(name.dropLast("Response".count)) : name
        var lines = [
            "# The document is a SOAP response, and the paths start inside its Body. To call the operation, complete this:",
            "# [\(request).soap]", "# version = \(TOMLText.string(version.rawValue))", "# action = \"…\"",
        ]
        if let namespace = content?.name.namespace { lines.append("# namespace = \(TOMLText.string(namespace))") }
        return lines + ["# name = \(TOMLText.string(operation))"]
    }
}
