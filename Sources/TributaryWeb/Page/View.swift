import Foundation
import Mustache

/// The values that a template shows, by the names that it has for them. A value that is nil is as one without a name, and
/// a `Date` is shown as a ``TimeView``.
struct View: MustacheParent, ExpressibleByDictionaryLiteral {
    private var values: [String: Any] = [:]

    init(dictionaryLiteral values: (String, Any?)...) {
        for (name, value) in values { self[name] = value }
    }

    subscript(name: String) -> Any? {
        get { values[name] }
        set { values[name] = (newValue as? Date).map(TimeView.init) ?? newValue }
    }

    mutating func add(_ other: View) { values.merge(other.values) { $1 } }

    /// Adds a sentence to those that are to be known before somebody decides.
    mutating func note(_ text: String) { self["notes"] = (values["notes"] as? [String] ?? []) + [text] }

    func child(named name: String) -> Any? { values[name] }
}
