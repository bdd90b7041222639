/// What a document may not exceed, so that no document is deeper than the stack of whoever walks through it.
package enum TOMLLimits {
    /// Tables and arrays within one another, the document's own table not counted.
    package static let depth = 100
}
