import FeedConfiguration
package import XMLStream

/// The observed values of one attribute, or of the own text of one element, in a whole document.
package struct ValueProfile {
    /// The most bytes of a key. Longer values are not compared with one another.
    static let longestKey = 255

    /// The number of occurrences, empty ones included.
    package private(set) var count = 0
    /// The number of occurrences with more than white space.
    package private(set) var filled = 0
    /// The bytes of the longest value in UTF-8, without white space at either end.
    package private(set) var maximumLength = 0
    /// The first value that is not empty, or its first 80 characters.
    package private(set) var example: String?

    /// The schema's declaration of the values; nil without one.
    var declared: DeclaredValue?

    private(set) var distinct = DigestSet(isSample: true)
    /// True if one of the values has a space, as long as the values may be a key.
    private(set) var hasSpaces = false
    /// The values within one element that encloses a record; nil as long as there is only one such element.
    private var siblings: DigestSet?
    private var scope = -1

    private var forms = ValueForms.all
    private var local = LocalForms()
    /// The types to which every value converts.
    private var convertible = ValueForms.all
    /// True if one of the values is a time that names no offset.
    private(set) var hasLocalTime = false
    private var places = DecimalPlaces()
    private var hasExponent = false
    /// Why the values are text, although many of them are something else.
    private var exception: ValueWriting?

    init() {}

    /// Creates the profile of values that only a schema declares.
    init(declared: DeclaredValue) {
        self.declared = declared
        count = 1
        filled = 1
    }

    /// - Parameters:
    ///   - text: the text of the value, trimmed.
    ///   - scope: the number of the element that encloses the record. Values of different scopes are not siblings.
    ///   - isNumber: true for a number in the document's format, such as JSON's.
    ///   - budget: the memory of all profiles of the document.
    mutating func add(
        _ text: UnsafeBufferPointer<UInt8>, scope: Int, isNumber: Bool = false, _ budget: DigestSet.Budget
    ) {
        count += 1
        guard !text.isEmpty else { return }
        filled += 1
        maximumLength = max(maximumLength, text.count)
        if example == nil { example = String(String(decoding: text, as: UTF8.self).prefix(80)) }
        compare(text, scope, budget)
        guard !convertible.isEmpty || local.isOpen else { return }
        let kind = kind
        narrow(text, isNumber)
        if let kind, self.kind == nil, filled > Self.fewestBeforeException {
            let value = String(String(decoding: text, as: UTF8.self).prefix(40))
            exception = ValueWriting(
                example: value,
                doubt: "text because of \"\(value)\"; the \((filled - 1).grouped) values before it are \(kind)")
        }
    }

    /// The fewest values of one kind after which another is an exception.
    private static let fewestBeforeException = 10

    /// What all values are: the plural; nil for texts.
    private var kind: String? {
        guard forms.isEmpty else {
            if forms.contains(.boolean) { return "true or false" }
            return forms.isDisjoint(with: [.date, .datetime]) ? "numbers" : forms.contains(.date) ? "dates" : "times"
        }
        return local.kind
    }

    private mutating func compare(_ text: UnsafeBufferPointer<UInt8>, _ scope: Int, _ budget: DigestSet.Budget) {
        guard distinct.allDiffer || differAmongSiblings else { return }
        guard text.count <= Self.longestKey else {
            distinct.giveUp(budget)
            siblings?.giveUp(budget)
            return
        }
        if !hasSpaces { hasSpaces = text.contains(0x20) }
        if scope != self.scope {
            // Until now, all values were siblings.
            if siblings == nil, self.scope != -1 { siblings = DigestSet(isSample: true) }
            self.scope = scope
            siblings?.forget(budget)
        }
        var hasher = Hasher()
        hasher.combine(bytes: UnsafeRawBufferPointer(text))
        let hash = UInt64(bitPattern: Int64(hasher.finalize()))
        distinct.insert(hash, budget)
        siblings?.insert(hash, budget)
    }

    /// False if two values within one element that encloses a record were equal, as those of a child's key must not be.
    var differAmongSiblings: Bool { (siblings ?? distinct).allDiffer }

    private mutating func narrow(_ text: UnsafeBufferPointer<UInt8>, _ isNumber: Bool) {
        let isDay = Lexical.isDay(text)
        if isDay || Lexical.isInstant(text) {
            convertible.formIntersection([.date, .datetime])
            if isDay, convertible.contains(.datetime) { hasLocalTime = true }
            if local.isOpen { local.add(text, plain: nil, isNumber: isNumber) }
            return forms.formIntersection(isDay ? [.date, .datetime] : .datetime)
        }
        let number = NumberText(text)
        convertible = ValueForms.convertible(text, number, to: convertible)
        if !hasLocalTime, convertible.contains(.datetime), let time = Lexical.time(text), !time.hasZone {
            hasLocalTime = true
        }
        guard !forms.isEmpty || local.isOpen else { return }
        let plain = number.flatMap { $0.isPlain ? $0 : nil }
        if local.isOpen { local.add(text, plain: plain, isNumber: isNumber) }
        if !forms.isEmpty { forms.formIntersection(ValueForms(text, plain: plain)) }
        if plain?.hasExponent ?? false { hasExponent = true }
        if let plain {
            places.add(plain.decimals)
            if !places.areDecimal { forms.remove(.decimal) }
        }
    }

    /// True where every value is a number without an exponent.
    var isNumber: Bool {
        guard filled > 0, !hasExponent else { return false }
        return [.integer, .decimal, .real].contains(type)
    }

    /// The narrowest type to which every value converts, and from which it can be restored; text where there is no
    /// value.
    var type: ValueType {
        guard filled > 0 else { return .text }
        return ValueForms.types.first { forms.contains($0.form) }?.type ?? local.type?.type ?? .text
    }

    /// How the values are written, where their type does not say it.
    var writing: ValueWriting? {
        guard filled > 0 else { return nil }
        return forms.isEmpty ? local.type?.writing ?? exception : local.note
    }

    /// Adds what the values show of the document's notation.
    func show(in notation: inout DocumentNotation) { local.show(in: &notation) }

    /// Decides what the values leave open by those of other columns.
    mutating func settle(_ notation: DocumentNotation) {
        if local.settle(notation) { forms = [] }
    }

    /// The type that a schema declares, or text if a value of the document does not convert to it; nil without a schema's
    /// type.
    var declaredType: ValueType? {
        guard let declared else { return nil }
        return ValueForms.form(of: declared.type).map(convertible.contains) ?? true ? declared.type : .text
    }

    /// Adds the values of another profile.
    mutating func merge(_ other: ValueProfile) {
        count += other.count
        filled += other.filled
        maximumLength = max(maximumLength, other.maximumLength)
        example = example ?? other.example
        declared = declared ?? other.declared
        hasSpaces = hasSpaces || other.hasSpaces
        // No value is added to a merged profile.
        siblings = DigestSet(allDiffer: differAmongSiblings && other.differAmongSiblings)
        distinct.formUnion(other.distinct)
        guard other.filled > 0 else { return }
        forms.formIntersection(other.forms)
        local.merge(other.local)
        exception = exception ?? other.exception
        convertible.formIntersection(other.convertible)
        if other.hasExponent { hasExponent = true }
        if other.hasLocalTime { hasLocalTime = true }
        places.merge(other.places)
        if !places.areDecimal { forms.remove(.decimal) }
    }
}

/// The observed values of one attribute of one element path.
package struct AttributeProfile {
    package let name: XMLName
    package internal(set) var value = ValueProfile()

    /// True if the attribute holds data. `xsi:schemaLocation` and similar attributes describe the document instead.
    var isData: Bool {
        name.namespace != "http://www.w3.org/2001/XMLSchema-instance" && name.qualified != "xml:space"
    }
}

extension XMLName {
    /// True if both names are the same apart from their prefixes.
    func isSame(as other: XMLName) -> Bool { bare == other.bare && namespace == other.namespace }

    var identity: ElementProfile.Identity { .init(local: bare, namespace: namespace) }

    /// The name without its prefix; that of a column of CSV or of a member of an object as it is written.
    var bare: String { written ?? local }
}
