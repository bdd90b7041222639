/// A path as mappings write it: the subset of XPath 1.0 that can be answered from a stream.
///
/// `name`, `a/b`, `@attr`, `a/@attr`, `.`, `text()`, `string(path)`, `../…` any number of times, `*`, `prefix:name`,
/// `{}name`, `'any name'`, `//name` for a beginning at any depth, positions such as `td[2]`, and predicates on attributes:
/// `link[@rel='alternate']/@href`, `Cube[@currency]`, `a[@lang!='en']`, `tr[@class~='odd']`.
package struct XMLPath: Sendable, Hashable {
    /// A test of an element's or attribute's name.
    package enum NameTest: Sendable, Hashable {
        case any
        /// This local name in any namespace, or in none.
        case local(String)
        /// This local name in no namespace.
        case unqualified(String)
        case qualified(namespace: String, prefix: String, local: String)
        /// This name across `camelCase`, `snake_case` and `kebab-case`, as ``XMLName/folded(_:)`` makes it.
        case folded(String)
        /// A name in quotes: that of a column of CSV or of a member of an object, and of no other whose name
        /// ``ElementNaming`` makes the same element of, which is the second.
        case quoted(String, element: String)

        package func matches(_ name: XMLName) -> Bool {
            switch self {
            case .any: true
            case .local(let local): name.local == local
            case .unqualified(let local): name.local == local && name.namespace == nil
            case .qualified(let namespace, _, let local): name.local == local && name.namespace == namespace
            case .folded(let folded): XMLName.folded(name.local) == folded
            case .quoted(let written, let element):
                name.written.map { $0 == written } ?? (name.local == written || name.local == element)
            }
        }
    }

    /// A condition on an attribute of a step's element.
    package struct Predicate: Sendable, Hashable {
        package enum Condition: Sendable, Hashable {
            case exists, equals(String), differs(String)
            /// The value is a list of words between white space, and one of them is this.
            case includes(String)

            package func accepts(_ value: UnsafeBufferPointer<UInt8>) -> Bool {
                switch self {
                case .exists: true
                case .equals(let wanted): value.elementsEqual(wanted.utf8)
                case .differs(let unwanted): !value.elementsEqual(unwanted.utf8)
                case .includes(let word):
                    value.split(whereSeparator: isXMLSpace).contains { $0.elementsEqual(word.utf8) }
                }
            }
        }

        package var attribute: NameTest
        package var condition: Condition
    }

    package struct Step: Sendable, Hashable {
        package var test: NameTest
        /// The element's position among its siblings of the same name, from 1; nil for any.
        package var position: Int?
        package var predicates: [Predicate] = []

        package init(test: NameTest, position: Int? = nil, predicates: [Predicate] = []) {
            self.test = test
            self.position = position
            self.predicates = predicates
        }
    }

    /// The part that is wanted of the element at the end of the steps.
    package enum Target: Sendable, Hashable {
        /// The element's own text.
        case text
        /// The text of all its descendants, in document order.
        case deepText
        case attribute(NameTest)
    }

    /// True if the steps begin at the document's root.
    package var isAbsolute = false
    /// True if the first step of an absolute path may be at any depth.
    package var isAnywhere = false
    /// The number of levels upwards at which the path begins.
    package var ups = 0
    package var steps: [Step] = []
    package var target = Target.text

    package init(ups: Int = 0, steps: [Step] = [], target: Target = .text) {
        self.ups = ups
        self.steps = steps
        self.target = target
    }
}

extension XMLPath.NameTest: CustomStringConvertible {
    /// The name as a document would write it.
    package var description: String {
        switch self {
        case .any: "*"
        case .local(let local), .unqualified(let local): local
        case .qualified(_, let prefix, let local): prefix + ":" + local
        case .folded(let folded): folded
        case .quoted(_, let element): element
        }
    }
}
