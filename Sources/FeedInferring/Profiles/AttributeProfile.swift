package import XMLStream

/// The observed values of one attribute of one element path.
package struct AttributeProfile {
    package let name: XMLName
    package internal(set) var value = ValueProfile()

    /// True if the attribute holds data. `xsi:schemaLocation` and similar attributes describe the document instead.
    var isData: Bool {
        name.namespace != "http://www.w3.org/2001/XMLSchema-instance" && name.qualified != "xml:space"
    }
}

extension XMLName {
    /// True if both names are the same apart from their prefixes.
    func isSame(as other: XMLName) -> Bool { local == other.local && namespace == other.namespace }

    var identity: ElementProfile.Identity { .init(local: local, namespace: namespace) }
}
