import FeedDeclarations
import FeedStaging

extension MappingCompiler {
    /// Returns the value that expressions see of a column: as the feed has it, before references and encryption.
    func input(_ column: ColumnMapping, _ layout: RecordLayout, _ types: [String: String]) throws
        -> (value: RecordLayout.Value, kind: ValueConverter.Kind?)
    {
        switch column.origin {
        case .constant(let constant) where !column.isConverted: return (.fixed(constant), nil)
        case .response(let fact): return (.fact(text(of: fact)), .text)
        default: break
        }
        guard let slot = layout.slots.firstIndex(where: { $0.column == column }) else { return (.fact(nil), nil) }
        var converter = ValueConverter(
            column, declaredType: types[column.name.lowercased()], type: column.isOrdinal ? .integer : nil,
            cipher: nil)
        if let reference = column.reference {
            converter = try self.converter(for: column, named: reference.column, in: reference.table)
        }
        if case .parent = column.origin {
            guard case .parent(let parent, let key) = layout.slots[slot].source else {
                throw MappingError(
                    "table '\(layout.mapping.table)': an expression uses the column '\(column.name)', which is the key "
                        + "that the store gives the parent, and no value of the feed")
            }
            converter = try self.converter(for: parent.slots[key].column, in: parent.mapping.table)
        }
        return (.slot(slot, converter), converter.kind)
    }
}
