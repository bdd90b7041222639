/// A string of the configuration, with what `${…}` stood for. It describes itself by the template, never by the value.
public struct InterpolatedText: Sendable, Hashable, CustomStringConvertible {
    /// What is sent. It may be secret.
    package var value: String
    /// What is shown.
    package var template: String

    package init(value: String, template: String) {
        self.value = value
        self.template = template
    }

    package init(_ text: String) { self.init(value: text, template: text) }

    package var isSecret: Bool { value != template }

    public var description: String { template }
}
