/// A finding about a text or a declaration: what is wrong, and what to do about it.
package struct Finding: Error, Sendable, Hashable, CustomStringConvertible {
    package var text: String
    /// The advice; nil where there is none.
    package var help: String?

    package init(_ text: String, help: String? = nil) {
        self.text = text
        self.help = help
    }

    /// Both in one sentence.
    package var description: String { help.map { "\(text); \($0)" } ?? text }
}

/// A key of the configuration, as messages name it.
package struct KeyPlace: Sendable, Hashable, CustomStringConvertible {
    /// The configuration's file; empty if it does not matter.
    package var file: String
    /// `sources.shop.requests[1].tables[2]`; empty for the whole file.
    package var path: String
    /// The keys and indexes of the path; none where it is only shown.
    package var components: [Component]

    /// A step of a path.
    package enum Component: Sendable, Hashable {
        case key(String)
        /// An element of an array, counted from 0.
        case index(Int)
    }

    package init(file: String = "", path: String = "", components: [Component] = []) {
        self.file = file
        self.path = path
        self.components = components
    }

    package var description: String { [file, path].filter { !$0.isEmpty }.joined(separator: ": ") }
}

/// A property in which equal values may differ, such as the file of a declaration.
@propertyWrapper
package struct Uncompared<Value: Sendable>: Sendable, Hashable {
    package var wrappedValue: Value

    package init(wrappedValue: Value) { self.wrappedValue = wrappedValue }

    package static func == (_: Self, _: Self) -> Bool { true }

    package func hash(into hasher: inout Hasher) {}
}

/// A mistake in the configuration: its place, what is wrong there, and what to do about it.
package struct Mistake: Sendable, Hashable, CustomStringConvertible {
    package var place: KeyPlace
    package var finding: Finding

    package init(_ place: KeyPlace, _ finding: Finding) {
        self.place = place
        self.finding = finding
    }

    package init(_ place: KeyPlace, _ text: String, help: String? = nil) {
        self.init(place, Finding(text, help: help))
    }

    package var description: String {
        let place = place.description
        return place.isEmpty ? "\(finding)" : "\(place): \(finding)"
    }
}
