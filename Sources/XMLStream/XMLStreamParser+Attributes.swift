import CLibXML2

/// Attributes of elements: their values without references, and the limits that hold for them.
extension XMLStreamParser {
    /// Copies attributes, each of five pointers: local name, prefix, namespace, start and end of the value.
    func copyAttributes(_ values: UnsafeMutablePointer<UnsafePointer<UInt8>?>, _ count: Int) {
        for index in 0..<count {
            let attribute = values + index * 5
            guard let local = attribute[0], let start = attribute[3], let end = attribute[4] else { continue }
            let name = names.index(local: local, prefix: attribute[1], namespace: attribute[2])
            let begin = attributeValues.count
            let value = UnsafeBufferPointer(start: start, count: end - start)
            guard begin + value.count <= limits.textLength else {
                return refuse(.limit, "the attributes of the open elements are longer than \(limits.textLength) bytes")
            }
            if reportedLine == nil, value.contains(UInt8(ascii: "&")) {
                appendExpanding(value, depth: 0)
            } else {
                attributeValues.append(start, count: value.count)
            }
            attributes.append(XMLAttributeRecord(name: name, value: begin..<attributeValues.count))
        }
    }

    /// Appends a value. Without `XML_PARSE_NOENT`, libxml2 leaves two things in it to expand: `&#38;`, its form of
    /// every ampersand, and references to entities that the document declares.
    private func appendExpanding(_ value: UnsafeBufferPointer<UInt8>, depth: Int) {
        guard depth < 20 else { return refuse(.limit, "entities refer to one another more than 20 deep") }
        var rest = value[...]
        while let ampersand = rest.firstIndex(of: UInt8(ascii: "&")), failure == nil {
            append(rest[..<ampersand])
            guard let semicolon = rest[ampersand...].firstIndex(of: UInt8(ascii: ";")) else {
                return append(rest[ampersand...])
            }
            let reference = rest[(ampersand + 1)..<semicolon]
            rest = rest[(semicolon + 1)...]
            let name = String(decoding: reference, as: UTF8.self)
            if let scalar = characterReference(name) {
                for byte in String(Character(scalar)).utf8 { attributeValues.append(byte) }
            } else if let entity = xmlGetDocEntity(rootDocument, name), let content = entity.pointee.content {
                let bytes = UnsafeBufferPointer(start: UnsafePointer(content), count: Int(entity.pointee.length))
                expand(by: bytes.count)
                if failure == nil { appendExpanding(bytes, depth: depth + 1) }
            } else {
                refuse(.entity, "the entity '&\(name);' is not declared in the document")
            }
        }
        if failure == nil { append(rest) }
    }

    private func append(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) {
        guard let base = bytes.base.baseAddress else { return }
        attributeValues.append(base + bytes.startIndex, count: bytes.count)
    }

    private func characterReference(_ name: String) -> Unicode.Scalar? {
        guard name.hasPrefix("#") else { return nil }
        let digits = name.dropFirst()
        let value = digits.hasPrefix("x") ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
        return value.flatMap(Unicode.Scalar.init)
    }

    func checkAttributes(_ declared: Int, _ count: Int, defaulted: Int, isOfEntity: Bool) {
        openNamespaces += declared
        if openNamespaces > limits.namespaces {
            refuse(.limit, "more than \(limits.namespaces) namespace declarations are in scope")
        }
        if count + declared > limits.attributes {
            refuse(.limit, "an element has more than \(limits.attributes) attributes")
        }
        if defaulted > limits.defaultsOfElement {
            refuse(.limit, "an element has more than \(limits.defaultsOfElement) attributes by default")
        }
        guard isOfEntity || defaulted > 0 else { return }
        var length = 0
        let frame = frames[frames.count - 1]
        for index in isOfEntity ? frame.attributes[...] : frame.attributes.suffix(defaulted) {
            let record = attributes[index]
            length += names.qualified(record.name).utf8.count + record.value.count + 4
        }
        if isOfEntity {
            return expand(by: length + 2 * names.qualified(frame.name).utf8.count + 5)
        }
        defaultLength += length
        if defaultLength > limits.defaultLength {
            refuse(
                .limit,
                "the document's attribute defaults would make it larger than max_body, "
                    + "\(limits.defaultLength) bytes")
        }
    }

    func expand(by count: Int) {
        expanded += count
        if expanded > limits.entityExpansion {
            refuse(.limit, "entities expand to more than \(limits.entityExpansion) bytes")
        }
    }
}
