import FeedModel

/// Reads a request's `body`: a string, `{ file = "…" }`, `{ xml = { … } }`, or `{ json = { … } }`.
struct RequestBodyReader {
    let body: DeclarationReader

    private static let xmlType = "application/xml; charset=utf-8"
    private static let jsonType = "application/json"

    func read() -> RequestBody? {
        defer { body.finish() }
        let keys = BodyKeys.all
        let file = body[keys.file]
        let xml = body.table(keys.xml)
        let json = JSONBodyWriter(table: body).read(keys.json)
        let text = body[keys.text]
        guard body.present(keys.text, keys.file, keys.xml, keys.json).count == 1 else { return nil }
        if let xml { return document(xml) }
        if body.has(BodyKeys.all.json) {
            return json.map { RequestBody(text: $0, escaping: .json, contentType: Self.jsonType) }
        }
        let content = file.map { file in
            body.reporting(keys.file) { try ConfigurationFile.text(named: file) }
        }
        return (content ?? text).flatMap { plain($0, body) }
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
