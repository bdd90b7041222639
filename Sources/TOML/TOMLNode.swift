/// A value of a TOML document, with its line.
package struct TOMLNode: Sendable, Equatable {
    package var value: TOMLValue
    /// The line on which it begins, counted from 1. A table begins with its header or, without one, with the first key
    /// that leads into it.
    package var line: Int

    package init(_ value: TOMLValue, line: Int) {
        self.value = value
        self.line = line
    }
}
