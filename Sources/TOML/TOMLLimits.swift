/// The limits of a document, so that none is nested too deep for the stack of code that walks through it.
package enum TOMLLimits {
    /// The most tables and arrays within one another, without the document's own table.
    package static let depth = 100
}
