import TOML

/// Reads a request's `body`: a string, `{ file = "…" }`, or `{ xml = { … } }`.
struct RequestBodyReader {
    let table: TableReader

    private static let xmlType = "application/xml; charset=utf-8"

    func read() -> RequestBody? {
        guard let body = table.table("body", orTextFor: "text") else { return nil }
        defer { body.finish() }
        let file = body.file("file")
        let xml = body.table("xml")
        let text = body.value("text", "a string") { if case .string(let text) = $0 { text } else { nil } }
        guard ["text", "file", "xml"].count(where: body.has) == 1 else {
            body.problems.report(body.path, "give a string, a 'file', or 'xml'")
            return nil
        }
        if let xml { return document(xml) }
        return (text ?? file.flatMap { contents(of: $0, body) }).flatMap { plain($0, body) }
    }

    private func document(_ xml: TableReader) -> RequestBody {
        if xml.keys.count != 1 || xml.keys[0].hasPrefix("@") || xml.keys[0] == "." {
            xml.problems.report(xml.path, "an XML document has one element at its root, found \(xml.keys.count) keys")
        }
        var text = InterpolatedText("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n")
        text.append(XMLTableReader(table: xml).content())
        return RequestBody(text: text, isXML: true, contentType: Self.xmlType)
    }

    /// What it begins with says what it is.
    private func plain(_ template: String, _ body: TableReader) -> RequestBody? {
        let start = template.first { !$0.isWhitespace }
        let isXML = start == "<"
        let text = body.interpolate(template, at: body.path) { isXML ? XMLText.escaped($0) : $0 }
        let type = isXML ? Self.xmlType : start == "{" || start == "[" ? "application/json" : nil
        return text.map { RequestBody(text: $0, isXML: isXML, contentType: type) }
    }

    private func contents(of file: String, _ body: TableReader) -> String? {
        do {
            if let text = try ConfigurationFile.text(named: file) { return text }
            body.report("file", "the file \(file) is not UTF-8 text")
        } catch {
            body.report("file", "the file \(file) \(error.message)")
        }
        return nil
    }
}
