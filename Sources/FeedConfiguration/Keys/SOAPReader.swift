import XMLStream

/// Reads a request's `soap`.
struct SOAPReader {
    let table: DeclarationReader

    /// Reads the call; nil if it has no operation.
    func read() -> SOAPDeclaration? {
        let keys = SOAPKeys.all
        let version = table.value(of: keys.version)
        let action = table[keys.action]
        let namespace = table[keys.namespace]
        let isQualified = table.value(of: keys.qualified)
        let name = table[keys.name]
        let declaring = isQualified ? "xmlns" : "xmlns:m"
        let parameters = table.table(keys.parameters).map { parameters in
            if namespace != nil, parameters.keys.contains("@" + declaring) {
                parameters.report("@" + declaring, "the operation has a 'namespace'", help: "remove one of the two")
            }
            return XMLBodyWriter(table: parameters).inner()
        }
        let header = table.table(keys.header).map { XMLBodyWriter(table: $0).inner() }
        table.finish()
        guard let name else { return nil }
        guard XMLText.isName(name), !name.contains(":") else {
            table.report("name", "'\(name)' is not the name of an element without a prefix")
            return nil
        }
        var envelope = InterpolatedText(
            "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<soap:Envelope xmlns:soap=\"\(version.namespace)\">")
        if let header {
            envelope.append(InterpolatedText("<soap:Header"))
            envelope.append(header)
            envelope.append(InterpolatedText("</soap:Header>"))
        }
        // Unqualified parameters (elementFormDefault="unqualified", and RPC style) must stay out of the operation's
        // namespace.
        let tag = namespace != nil && !isQualified ? "m:\(name)" : name
        envelope.append(InterpolatedText("<soap:Body><\(tag)"))
        if let namespace {
            envelope.append(InterpolatedText(" \(declaring)=\""))
            envelope.append(namespace.mappingLiterals { XMLText.escaped($0) ?? "" })
            envelope.append(InterpolatedText("\""))
        }
        envelope.append(parameters ?? InterpolatedText(">"))
        envelope.append(InterpolatedText("</\(tag)></soap:Body></soap:Envelope>\n"))
        return SOAPDeclaration(version: version, action: action, envelope: envelope)
    }
}
