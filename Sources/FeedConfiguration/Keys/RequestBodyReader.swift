import FeedModel
import XMLStream

/// Reader of a request's `body`: a string, `{ file = "…" }`, `{ xml = { … } }`, or `{ json = { … } }`.
extension BodyKeys: ValueGroup {
    private static let xmlType = "application/xml; charset=utf-8"
    private static let jsonType = "application/json"

    func read(_ body: DeclarationReader) -> RequestBody? {
        guard body.present(text, file, xml, json).count == 1 else { return nil }
        if let xml = body.table(xml) { return document(xml) }
        if let json = JSONBodyWriter(table: body).read(json) {
            return RequestBody(text: json, escaping: .json, contentType: Self.jsonType)
        }
        let content = body[file].flatMap { path in
            body.reporting(file) { try ConfigurationFile.text(named: path) }
        }
        return (content ?? body[text]).flatMap { plain($0, body) }
    }

    private func document(_ xml: DeclarationReader) -> RequestBody {
        if xml.keys.count != 1 || xml.keys[0].hasPrefix("@") || xml.keys[0] == "." {
            xml.problems.report(xml.path, "an XML document has one element at its root, found \(xml.keys.count) keys")
        }
        var text = InterpolatedText("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n")
        text.append(XMLBodyWriter(table: xml).content())
        return RequestBody(text: text, escaping: .xml, contentType: Self.xmlType)
    }

    /// Reads a body whose beginning shows its type.
    private func plain(_ template: String, _ body: DeclarationReader) -> RequestBody? {
        let start = template.first { !$0.isWhitespace }
        let escaping: RequestBody.Escaping = start == "<" ? .xml : .none
        let text = body.interpolate(template, at: body.path, isSent: true) { escaping($0) }
        for secret in LiteralSecrets.secrets(inBody: text?.value ?? "") { body.hide(secret) }
        let type = start == "<" ? Self.xmlType : start == "{" || start == "[" ? Self.jsonType : nil
        return text.map { RequestBody(text: $0, escaping: escaping, contentType: type) }
    }
}

/// Reader of a request's `soap`.
extension SOAPKeys: ValueGroup {
    func read(_ soap: DeclarationReader) -> SOAPDeclaration? {
        let namespace = soap[namespace]
        let isQualified = soap.value(of: qualified)
        let declaring = isQualified ? "xmlns" : "xmlns:m"
        let parameters = soap.table(parameters).map { parameters in
            if namespace != nil, parameters.keys.contains("@" + declaring) {
                parameters.report("@" + declaring, "the operation has a 'namespace'", help: "remove one of the two")
            }
            return XMLBodyWriter(table: parameters).inner()
        }
        let header = soap.table(header).map { XMLBodyWriter(table: $0).inner() }
        guard let name = soap[name] else { return nil }
        guard XMLText.isName(name), !name.contains(":") else {
            soap.report(self.name, "'\(name)' is not the name of an element without a prefix")
            return nil
        }
        let version = soap.value(of: version)
        // Unqualified parameters (elementFormDefault="unqualified", and RPC style) must stay out of the operation's
        // namespace.
        let tag = namespace != nil && !isQualified ? "m:\(name)" : name
        var envelope = InterpolatedText(
            "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<soap:Envelope xmlns:soap=\"\(version.namespace)\">")
        if let header {
            envelope.append("<soap:Header")
            envelope.append(header)
            envelope.append("</soap:Header>")
        }
        envelope.append("<soap:Body><\(tag)")
        if let namespace {
            envelope.append(" \(declaring)=\"")
            envelope.append(namespace.mappingLiterals { XMLText.escaped($0) ?? "" })
            envelope.append("\"")
        }
        envelope.append(parameters ?? InterpolatedText(">"))
        envelope.append("</\(tag)></soap:Body></soap:Envelope>\n")
        return SOAPDeclaration(version: version, action: soap[action], envelope: envelope)
    }
}
