import FeedConfiguration
import FeedModel
import FeedStaging
import XMLStream

extension RecordLayout {
    /// Returns the slot of the column with this folded name.
    func slot(named folded: String) -> Int? {
        slots.firstIndex { if case .name(let name) = $0.source { name == folded } else { false } }
    }

    /// Returns the slot of the column that a name of the document means. Each name is folded and looked for once.
    func slot(named name: XMLName, number: Int32) -> Int? {
        if let known = slotsOfNames[number] { return known }
        let slot = slot(named: XMLName.folded(name.local))
        slotsOfNames[number] = .some(slot)
        return slot
    }

    /// Stages the rows of a record that is complete.
    ///
    /// - Throws: ``MappingError`` if a value does not convert or is missing, unless the mapping allows it.
    func stage(_ instance: RecordInstance, context: WorkerContext) throws {
        if let makeRows {
            guard slots.indices.contains(where: instance.has) else { return }
            if rows.isEmpty { rows = try makeRows() }
        }
        // Expressions read the values in place.
        if expressions != nil { instance.gather() }
        guard !instance.isTooLarge else {
            throw MappingError(
                "line \(instance.line): a record of table '\(mapping.table)' holds more than "
                    + "\(ByteSize.text(RecordInstance.limit)), or all records that are open at the same time more than "
                    + "\(ByteSize.text(RecordMemory.limit)); map smaller elements")
        }
        if let expressions {
            switch try expressions.evaluate(instance, of: self) {
            case .values:
                isDeleted = expressions.isDeleted
                if isDeleted { deletedRecords += 1 }
            case .filtered:
                unreadRecords += 1
                context.skipped.filtered += 1
                context.droppedRecords += 1
                return
            case .unconverted:
                unreadRecords += 1
                return try noteSkipped(instance, isEvaluated: false, context: context)
            }
        }
        defer { expressions?.reset() }
        if !unfound.isEmpty { unfound.removeAll { has($0, instance) } }
        for index in rows.indices {
            let row = rows[index]
            if isDeleted, index > 0 { break }
            if let condition = row.condition, !has(condition, instance) { continue }
            row.writer.beginRow()
            do {
                guard try append(row, of: instance) else {
                    row.writer.cancelRow()
                    // The first row is the record's own: without it there are no others.
                    if index == 0 { return try noteSkipped(instance, isEvaluated: true, context: context) }
                    continue
                }
            } catch {
                row.writer.cancelRow()
                throw error
            }
            try row.writer.endRow()
        }
        context.skipped.addKept(isWithin: isWithin)
    }

    /// Returns true if a record has a value for a slot, found or derived.
    private func has(_ slot: Int, _ instance: RecordInstance) -> Bool {
        guard let expressions, case .expression = slots[slot].source else { return instance.has(slot) }
        return expressions.outputs[slots[slot].column.name.lowercased()].map { !expressions.isNull($0) } ?? false
    }

    /// - Returns: false to skip the row.
    func append(_ row: Row, of instance: RecordInstance) throws -> Bool {
        let writer = row.writer
        for index in row.steps.indices {
            if isDeleted, !staysWhenDeleted[index] {
                writer.appendNull()
                continue
            }
            let step = row.steps[index]
            if step.kind != .other, let bytes = instance[step.slot] {
                switch step.kind {
                case .text:
                    writer.append(text: UnsafeRawBufferPointer(bytes))
                    continue
                case .integer:
                    if let number = Lexical.int(trimmed(bytes)) {
                        writer.append(Int64(number))
                        continue
                    }
                case .real:
                    if let number = Lexical.double(trimmed(bytes)), !number.isNaN {
                        writer.append(number)
                        continue
                    }
                case .day, .instant:
                    let text = trimmed(bytes)
                    if step.kind == .day ? Lexical.isDay(text) : Lexical.isInstant(text) {
                        writer.append(text: UnsafeRawBufferPointer(text))
                        continue
                    }
                case .other:
                    break
                }
            }
            guard try append(row.values[index], of: instance, to: writer) else { return false }
        }
        return true
    }

    func append(_ value: Value, of instance: RecordInstance, to row: some ValueSink) throws -> Bool {
        switch value {
        case .derived(let output, let slot, let converter):
            guard let expressions, !expressions.isNull(output) else {
                return try appendMissing(slot, instance, to: row, converter)
            }
            switch expressions.append(output, converter, to: row) {
            case .appended: break
            case .empty: return try appendNothing(slot, instance, to: row, found: nil, converter)
            case .unconverted(let text): return try appendNothing(slot, instance, to: row, found: text, converter)
            }
        case .fixed(let constant):
            Self.fixed.append(constant, to: row)
        case .number:
            row.append(instance.record)
        case .isDeleted:
            row.append(isDeleted ? 1 : 0 as Int64)
        case .fact(let text):
            if let text { Self.fixed.append(.text(text), to: row) } else { row.appendNull() }
        case .slot(let slot, let converter):
            guard var bytes = instance[slot] else { return try appendMissing(slot, instance, to: row, converter) }
            if case .text = converter.kind {} else { bytes = trimmed(bytes) }
            if bytes.isEmpty, !converter.keepsEmpty { return try appendMissing(slot, instance, to: row, converter) }
            if !converter.append(bytes, to: row) {
                let text = String(decoding: bytes, as: UTF8.self)
                return try appendNothing(slot, instance, to: row, found: text, converter)
            }
        }
        return true
    }

    /// Appends the column's default for a value that is missing; without one, what ``appendNothing(_:_:to:found:_:)`` does.
    private func appendMissing(
        _ slot: Int, _ instance: RecordInstance, to row: some ValueSink, _ converter: ValueConverter
    ) throws -> Bool {
        guard let fallback = slots[slot].column.fallback else {
            return try appendNothing(slot, instance, to: row, found: nil, converter)
        }
        append(fallback, converter, to: row)
        return true
    }

    private func append(_ fallback: Constant, _ converter: ValueConverter, to row: some ValueSink) {
        if case .enumeration = converter.kind, case .integer = fallback { return converter.append(fallback, to: row) }
        let converter = fallback.isText ? converter : converter.ofConstants
        var text = fallback.text
        // `check` has already converted it once.
        if !text.withUTF8({ converter.append($0, to: row) }) { converter.append(fallback, to: row) }
    }

    /// Appends NULL for a value that is missing or does not convert, or follows the column's rule for errors: false
    /// skips the row.
    private func appendNothing(
        _ slot: Int, _ instance: RecordInstance, to row: some ValueSink, found: String?, _ converter: ValueConverter
    ) throws -> Bool {
        let column = slots[slot].column
        let isWanted = !row.takesMissing && (isKey[slot] || column.isRequired)
        guard found != nil || isWanted else {
            row.appendNull()
            return true
        }
        // A record that has its key from one that is left out is left out, too.
        var onError = column.onError
        if case .parent(let parent, let key) = slots[slot].source, parent.slots[key].column.onError == .skip {
            onError = .skip
        }
        func mistake(_ advice: String) -> MappingError {
            let path = column.writtenPath
            // What is encrypted in the store is in no message.
            let shown = column.isEncrypted ? nil : found
            return MappingError(
                table: mapping.table, column: column.name,
                element: "<\(mapping.writtenElement)>" + key(of: instance, but: slot),
                line: instance.line, found: shown,
                expected: found != nil
                    ? (shown.map { converter.expectation + converter.advice(on: $0) }
                        ?? "the value, which is not shown because the column is encrypted, is not \(converter.expectation)")
                    : "the \(isKey[slot] ? "key" : "required value") is missing"
                        + (column.isDerived ? ", its expression gives NULL" : "")
                        + (path.isEmpty ? "" : ": the record has no '\(path)'\(advice)"))
        }
        switch onError {
        case .skip:
            self.error = errors < RejectedRecords.most ? mistake("").description : nil
            rejectedSlot = slot
            errors += 1
            return false
        case .null where !isWanted:
            row.appendNull()
            return true
        default:
            let lacksKey = found == nil && isKey[slot]
            throw mistake(lacksKey ? "; on_error = \"skip\" leaves such records out" : "; set 'default' or 'on_error'")
        }
    }

    /// Returns the key of a record, as a message says which one is meant: ` (id = "4711")`; empty without a key that can
    /// be shown.
    private func key(of instance: RecordInstance, but slot: Int) -> String {
        let values = slots.indices.compactMap { index -> String? in
            let column = slots[index].column
            guard isKey[index], index != slot, !column.isEncrypted, let bytes = instance[index] else { return nil }
            let text = String(decoding: trimmed(bytes), as: UTF8.self)
            return "\(column.name) = \"\(text.count > 60 ? "\(text.prefix(60))…" : text)\""
        }
        return values.isEmpty ? "" : " (\(values.joined(separator: ", ")))"
    }

    /// Leaves columns that no record of the document had unchanged in the store. Without a key in the mapping, rows are
    /// identified by columns that some record had.
    func ignoreUnfound() throws {
        guard let row = rows.first else { return }
        let has = Set(slots.indices.filter(isFound).map { slots[$0].column.name.lowercased() })
        let unfound = Set(slots.filter { $0.column.fallback == nil }.map { $0.column.name.lowercased() })
            .subtracting(has)
        let key =
            mapping.key.isEmpty ? uniqueKeys.first { $0.allSatisfy { has.contains($0.lowercased()) } } : mapping.key
        try row.writer.ignore(unfound, key: key)
    }

    private static let fixed = ValueConverter(.text)
}
