package import XMLStream

/// What was seen of one attribute of one element path.
package struct AttributeProfile {
    package let name: XMLName
    package internal(set) var value = ValueProfile()

    /// `xsi:schemaLocation` and its like speak of the document, not of what it says.
    var isData: Bool {
        name.namespace != "http://www.w3.org/2001/XMLSchema-instance" && name.qualified != "xml:space"
    }
}
