/// A string of the configuration, with the values of `${…}`. Its description is the template, never the value.
public struct InterpolatedText: Sendable, Hashable, CustomStringConvertible {
    /// The text that is sent. It may be secret.
    package var value: String
    /// The text that is shown.
    package var template: String

    package init(value: String, template: String) {
        self.value = value
        self.template = template
    }

    package init(_ text: String) { self.init(value: text, template: text) }

    /// Returns the placeholder of a reference in a value until the request is sent.
    package static func marked(_ reference: Reference) -> String { "\(mark)\(reference)\(mark)" }

    /// The mark on both sides of a ``Reference``'s text.
    private static let mark: Character = "\u{0}"

    /// True if part of the text is known only when the request is sent.
    package var isDynamic: Bool { value.utf8.contains(0) }

    /// True if the text consists of one reference only, which a response, a row or the store gives.
    package var isReference: Bool {
        guard value.first == Self.mark, value.last == Self.mark else { return false }
        return references.count == 1 && !references[0].isTime
    }

    /// The references that are resolved when the request is sent.
    package var references: [Reference] {
        guard isDynamic else { return [] }
        let parts = value.split(separator: Self.mark, omittingEmptySubsequences: false)
        return parts.indices.filter { $0 % 2 == 1 }.compactMap { Reference(parts[$0]) }
    }

    /// Returns the text with each reference replaced.
    package func resolved(_ replacement: (Reference) throws -> String) rethrows -> InterpolatedText {
        guard isDynamic else { return self }
        let parts = value.split(separator: Self.mark, omittingEmptySubsequences: false)
        let texts = try parts.enumerated().map {
            try $0 % 2 == 1 ? Reference($1).map(replacement) ?? "" : String($1)
        }
        return InterpolatedText(value: texts.joined(), template: template)
    }

    /// Returns the text with everything but the references replaced.
    package func mappingLiterals(_ transform: (String) -> String) -> InterpolatedText {
        guard isDynamic else {
            let text = transform(value)
            return InterpolatedText(value: text, template: value == template ? text : template)
        }
        let parts = value.split(separator: Self.mark, omittingEmptySubsequences: false)
        let texts = parts.enumerated().map {
            $0 % 2 == 1 ? "\(Self.mark)\($1)\(Self.mark)" : transform(String($1))
        }
        return InterpolatedText(value: texts.joined(), template: value == template ? texts.joined() : template)
    }

    package mutating func append(_ other: InterpolatedText) {
        value += other.value
        template += other.template
    }

    mutating func append(_ literal: String) { append(InterpolatedText(literal)) }

    /// The text with a letter in place of each reference, to check its form.
    package var probe: String { resolved { _ in "x" }.value }

    public var description: String { template }
}
