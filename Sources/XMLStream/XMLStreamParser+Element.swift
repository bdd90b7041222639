import CLibXML2

/// The element that a handler receives.
extension XMLStreamParser {
    /// The element's name. Traps where no element is open.
    public var name: XMLName { names[frames[frames.count - 1].name] }

    /// The element's name as written, prefix included, without making an ``XMLName`` of it.
    public var qualifiedName: String { names.qualified(frames[frames.count - 1].name) }

    /// Parts of the element's name, also without an ``XMLName``.
    public var localName: String { names.local(frames[frames.count - 1].name) }
    public var namespace: String? { names.namespace(frames[frames.count - 1].name) }

    /// The name, as written, of the element's parent; nil for the root.
    public var parentQualifiedName: String? { depth > 1 ? names.qualified(frames[frames.count - 2].name) : nil }

    /// The number of open elements, this one included.
    public var depth: Int { frames.count - outerDepth }

    /// The names of the open elements as written, from the root: `/rss/channel/item/title`.
    public var path: String {
        (outerDepth..<frames.count).reduce(into: "") { $0 += "/" + names.qualified(frames[$1].name) }
    }

    public var attributesOfElement: XMLAttributes {
        attributes(of: frames.count - 1)
    }

    /// The namespaces that the element declares, with an empty prefix for the default one and an empty address for
    /// none. Read them when the element begins.
    package var declaredNamespaces: [(prefix: String, namespace: String)] {
        guard let namespaceDeclarations else { return [] }
        return (0..<frames[frames.count - 1].namespaces).map { index in
            (
                prefix: namespaceDeclarations[index * 2].map { String(cString: $0) } ?? "",
                namespace: namespaceDeclarations[index * 2 + 1].map { String(cString: $0) } ?? ""
            )
        }
    }

    /// The element's own text so far, with CDATA sections and without its children's text. White space before the first
    /// child or other text is indentation and is not kept. Valid until the handler returns.
    public var textBytes: UnsafeBufferPointer<UInt8> { text[frames[frames.count - 1].textStart..<text.count] }

    /// The name's number among the names of the document, for comparisons made for every element.
    package var nameIndex: Int32 { frames[frames.count - 1].name }

    /// Returns the name of the open element at a depth, 1 for the root.
    package func name(atDepth depth: Int) -> XMLName { names[frames[outerDepth + depth - 1].name] }

    /// Returns the attributes of the open element at a depth, 1 for the root.
    package func attributes(atDepth depth: Int) -> XMLAttributes {
        attributes(of: outerDepth + depth - 1)
    }

    /// Returns the number in the document of the open element at a depth, 1 for the root.
    package func elementNumber(atDepth depth: Int) -> Int { frames[outerDepth + depth - 1].element }

    @inline(__always)
    func attributes(of frame: Int) -> XMLAttributes {
        XMLAttributes(stream: self, range: frames[frame].attributes, element: frames[frame].element)
    }

    /// Returns the own text so far of the open element at a depth, 1 for the root.
    package func textBytes(atDepth depth: Int) -> UnsafeBufferPointer<UInt8> {
        let depth = outerDepth + depth
        return text[frames[depth - 1].textStart..<(depth < frames.count ? frames[depth].textStart : text.count)]
    }

    /// The line that the parser has reached, counted from 1.
    public var line: Int { reportedLine ?? Int(xmlSAX2GetLineNumber(context)) }

    /// The name, as written, of the innermost open element; nil outside the root.
    var openElement: String? { frames.count > 0 ? qualifiedName : nil }

    func name(_ index: Int32) -> XMLName { names[index] }
    func attribute(_ index: Int) -> XMLAttributeRecord { attributes[index] }
    func attributeBytes(_ range: Range<Int>) -> UnsafeBufferPointer<UInt8> { attributeValues[range] }

    /// The C context of the document itself, as callbacks see it. Entities are parsed in other contexts.
    @inline(__always)
    var rootContext: UnsafeMutableRawPointer { UnsafeMutableRawPointer(context) }

    var rootDocument: xmlDocPtr? { context.pointee.myDoc }

    /// Returns libxml2's only copy of a name; nil if the document's names together are longer than it allows.
    func intern(_ name: UnsafeBufferPointer<UInt8>) -> UnsafePointer<UInt8>? {
        xmlDictLookup(context.pointee.dict, name.baseAddress, Int32(clamping: name.count))
    }

    @inline(__always)
    func reportStart() throws { try handler._withUnsafeGuaranteedRef { try $0.didStartElement(in: self) } }

    @inline(__always)
    func reportEnd() throws { try handler._withUnsafeGuaranteedRef { try $0.didEndElement(in: self) } }

    /// Calls the handler outside of libxml2. Its error ends the document.
    func telling(_ body: (XMLStreamHandler) throws -> Void) throws {
        do { try handler._withUnsafeGuaranteedRef(body) } catch { throw fail(error) }
    }
}

/// An open element, with the places at which its text and attributes begin in the parser's stacks.
struct XMLFrame {
    let name: Int32
    let textStart: Int
    let attributes: Range<Int>
    /// The number of the element in the document.
    let element: Int
    let attributeValuesStart: Int
    /// The number of namespaces that it declares.
    let namespaces: Int
    /// True where its own text is known to be more than white space.
    var hasText = false
}

/// An attribute of an open element: its name and the place of its value.
struct XMLAttributeRecord {
    let name: Int32
    let value: Range<Int>
}
