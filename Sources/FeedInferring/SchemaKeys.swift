import XMLStream

/// The keys of proposed tables that a schema declares, and the references to them.
///
/// `xs:key`, and `xs:unique` over values that each record has, count where they hold in the whole document or within the
/// record around the table's. A value of the type `xs:ID` is a key of its table where each record has one.
struct SchemaKeys {
    /// The columns that distinguish the records of a table.
    struct Key {
        /// The positions of the values.
        var values: [Int]
        /// True if they do so within one record of the enclosing table only.
        var isWithinParent = false
        var reason: String
    }

    private let tables: [ProposedTable]
    private var constraints: [(constraint: DeclaredConstraint, holder: ElementProfile)] = []
    /// The most keys and references looked at: each looks through the elements below it.
    private static let mostConstraints = 500

    /// Gives the tables their keys, and the values their references.
    static func assign(to tables: [ProposedTable], below root: ElementProfile) {
        let keys = SchemaKeys(tables, root)
        let targets = keys.assignKeys()
        keys.assignReferences(targets)
    }

    private init(_ tables: [ProposedTable], _ root: ElementProfile) {
        self.tables = tables
        var found: [(DeclaredConstraint, ElementProfile)] = []
        root.visit { element in
            for constraint in element.declaration?.constraints ?? [] { found.append((constraint, element)) }
        }
        constraints = Array(found.prefix(Self.mostConstraints))
    }

    /// - Returns: the tables with a key of one column, by the name of the key in the schema.
    private func assignKeys() -> [ElementProfile.Identity: ProposedTable] {
        var targets: [ElementProfile.Identity: ProposedTable] = [:]
        for (constraint, holder) in constraints where constraint.kind != .keyref {
            let selected = elements(constraint, below: holder)
            for table in tables where selected.contains(ObjectIdentifier(table.element)) {
                guard let values = values(constraint, of: table), !values.isEmpty,
                    constraint.kind == .key || values.allSatisfy({ table.values[$0].isRequired }),
                    values.allSatisfy({ table.values[$0].isInEach(of: table) })
                else { continue }
                let isOfDocument = holder.isSingle
                guard isOfDocument || table.parent?.element === holder else { continue }
                let reason = "the schema's key \(constraint.label)"
                if table.declaredKey == nil {
                    table.declaredKey = Key(values: values, isWithinParent: !isOfDocument, reason: reason)
                }
                // A table may have several keys in the schema. A reference is to the one that its rows have.
                if isOfDocument, values.count == 1, table.declaredKey?.values == values,
                    table.declaredKey?.isWithinParent == false, let name = constraint.name
                {
                    targets[name] = table
                }
            }
        }
        for table in tables where table.declaredKey == nil {
            let ids = table.values.indices.filter {
                let value = table.values[$0]
                let depth = value.attribute == nil ? value.steps.count : value.steps.count + 1
                return depth <= 1 && value.profile.declared?.identifies ?? false && value.isRequired
            }
            guard let id = ids.first else { continue }
            table.declaredKey = Key(values: [id], reason: "the schema's type ID")
        }
        return targets
    }

    private func assignReferences(_ targets: [ElementProfile.Identity: ProposedTable]) {
        for (constraint, holder) in constraints where constraint.kind == .keyref {
            guard let target = constraint.target.flatMap({ targets[$0] }) else { continue }
            let selected = elements(constraint, below: holder)
            for table in tables where selected.contains(ObjectIdentifier(table.element)) {
                guard let values = values(constraint, of: table), values.count == 1 else { continue }
                table.references[values[0]] = target
            }
        }
        // An IDREF may name an ID of any table.
        let identified = tables.filter { table in
            table.values.contains { $0.profile.declared?.identifies ?? false }
        }
        guard identified.count == 1, let target = identified.first, target.declaredKey?.values.count == 1,
            let key = target.declaredKey?.values.first, target.values[key].profile.declared?.identifies ?? false
        else { return }
        for table in tables {
            for index in table.values.indices where table.values[index].profile.declared?.refers ?? false {
                table.references[index] = target
            }
        }
    }

    private func elements(_ constraint: DeclaredConstraint, below holder: ElementProfile) -> Set<ObjectIdentifier> {
        let paths = SchemaPath.paths(constraint.selector)
        return Set(paths.flatMap { $0.elements(below: holder) }.map { ObjectIdentifier($0) })
    }

    /// The values of a table that the fields of a key find; nil where one finds none.
    private func values(_ constraint: DeclaredConstraint, of table: ProposedTable) -> [Int]? {
        let found = constraint.fields.map { field in
            SchemaPath.paths(field).lazy.compactMap { $0.value(of: table) }.first
        }
        return found.contains(nil) ? nil : found.compactMap(\.self)
    }
}

extension ElementProfile {
    /// True if a document has one element at this path at most.
    var isSingle: Bool { sequence(first: self, next: \.parent).allSatisfy { $0.maximum <= 1 && !$0.isRecursive } }
}

extension RecordValue {
    /// True if each record of a document had the value.
    func isInEach(of table: ProposedTable) -> Bool { profile.filled == table.element.count }
}
