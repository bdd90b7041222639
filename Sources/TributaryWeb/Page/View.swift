import Foundation
import Mustache

/// The values that a template shows, by the names that it has for them. A value that is nil is as one without a name, and
/// a `Date` is shown as a ``TimeView``.
struct View: MustacheParent, ExpressibleByDictionaryLiteral {
    private var values: [String: Any] = [:]

    init(dictionaryLiteral values: (String, Any?)...) {
        for (name, value) in values { self.values[name] = (value as? Date).map(TimeView.init) ?? value }
    }

    func child(named name: String) -> Any? { values[name] }
}
