/// The reason that no mapping can be proposed for a document.
package struct InferenceError: Error, Sendable, Equatable, CustomStringConvertible {
    package var description: String
}
