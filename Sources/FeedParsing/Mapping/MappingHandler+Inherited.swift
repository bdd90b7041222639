import FeedConfiguration
import FeedModel
import FeedStaging
import XMLStream

/// Values that a record takes from the elements around it, and records that wait for one.
extension MappingHandler {
    /// Fills the values that come from enclosing elements. Returns the slots that must wait until those elements end.
    func inherit(_ instance: RecordInstance, _ stream: XMLStreamParser) -> [Int] {
        let layout = instance.layout
        return layout.inherited.filter { slot in
            guard let base = self.base(of: slot, for: instance) else { return false }
            switch layout.slots[slot].source {
            case .path(let path):
                if path.steps.isEmpty, !path.isAbsolute, case .attribute(let test) = path.target {
                    stream.attributes(atDepth: base).withValue(of: test) { instance.take($0, slot) }
                    return false
                }
                guard layout.slots[slot].column.repetition == .first,
                    let value = levels[base]?.inherited[.init(layout: layout.index, slot: slot)]
                else { return true }
                value.withUnsafeBufferPointer { instance.take($0, slot) }
                return false
            case .parent(let parent, let key):
                guard let enclosing = parent.open(at: base),
                    parent.slots[key].column.repetition == .first, let value = enclosing[key]
                else { return true }
                instance.take(value, slot)
                return false
            case .relation(let index):
                let relation = layout.relations[index]
                if !instance.has(relation.slot),
                    let enclosing = relation.target.open(at: base)
                {
                    refer(instance, relation.recordSlot, to: enclosing)
                }
                return false
            case .record(let parent):
                if let enclosing = parent.open(at: base) {
                    refer(instance, slot, to: enclosing)
                }
                return false
            case .name, .ordinal, .given, .expression:
                return false
            }
        }
    }

    func refer(_ instance: RecordInstance, _ slot: Int, to other: RecordInstance) {
        var number = String(other.record)
        number.withUTF8 { instance.set($0, slot) }
    }

    /// Sets the foreign key of the nearest enclosing record whose table refers to this record's table. A record within
    /// one of its own table is only that one's child.
    func relateOutwards(_ instance: RecordInstance) {
        guard !instance.layout.referrers.isEmpty else { return }
        let around = instance.layout.referrers.filter { $0 !== instance.layout }.compactMap {
            $0.enclosing(instance.depth)
        }
        guard let outer = around.max(by: { $0.depth < $1.depth }),
            let relation = outer.layout.relations.first(where: { $0.target === instance.layout })
        else { return }
        if outer[relation.slot]?.isEmpty ?? true, !outer.has(relation.recordSlot) {
            outer.forget(relation.slot)
            refer(outer, relation.recordSlot, to: instance)
        }
    }

    /// Returns the depth of the element at or below which a slot's value is found; nil without one.
    func base(of slot: Int, for instance: RecordInstance) -> Int? {
        switch instance.layout.slots[slot].source {
        case .path(let path):
            let depth = path.isAbsolute ? 0 : instance.depth - path.ups
            return depth >= (path.isAbsolute ? 0 : 1) ? depth : nil
        case .parent(let parent, _), .record(let parent):
            return parent.enclosing(instance.depth)?.depth
        case .relation(let index):
            return instance.layout.relations[index].target.enclosing(instance.depth)?.depth
        case .name, .ordinal, .given, .expression:
            return nil
        }
    }

    /// Stages a record that has ended, or keeps it until the values that it still needs are known.
    func finish(_ instance: RecordInstance, _ missing: [Int]) throws {
        guard let depth = missing.compactMap({ base(of: $0, for: instance) }).max() else {
            try instance.layout.stage(instance, context: context)
            instance.layout.recycle(instance)
            return
        }
        let column = instance.layout.slots[missing[0]].column
        try wait(forMore: instance.footprint, column.writtenPath, of: instance.layout)
        instance.isWaiting = true
        level(depth).waiting.append(.init(instance: instance, slots: missing))
    }

    /// Counts the bytes of records that wait, and of values kept for records.
    func wait(forMore bytes: Int, _ path: String, of layout: RecordLayout) throws {
        waitingBytes += bytes
        guard waitingBytes <= Self.waitingLimit else {
            throw MappingError(
                "more than \(ByteSize.text(Self.waitingLimit)) of records of table '\(layout.mapping.table)', and of values "
                    + "for them, wait for '\(path)', which comes after them in the document")
        }
    }

    /// Completes the records that wait at a depth, in their order. Each gives its memory back before the next takes its
    /// own.
    func settleAll(
        _ waiting: inout [Level.Waiting], at depth: Int, inherited: [Level.Key: [UInt8]]
    ) throws {
        waiting.reverse()
        while let next = waiting.popLast() { try settle(next, at: depth, inherited: inherited) }
    }

    /// Completes a waiting record from the element that has ended at a depth, then stages it or lets it wait for
    /// others.
    func settle(_ waiting: Level.Waiting, at depth: Int, inherited: [Level.Key: [UInt8]]) throws {
        let instance = waiting.instance
        let layout = instance.layout
        waitingBytes -= instance.footprint
        instance.isWaiting = false
        var missing: [Int] = []
        for slot in waiting.slots {
            guard base(of: slot, for: instance) == depth else {
                missing.append(slot)
                continue
            }
            if case .parent(let parent, let key) = layout.slots[slot].source {
                if let value = parent.open(at: depth)?[key] {
                    instance.take(value, slot)
                }
            } else if let value = inherited[.init(layout: layout.index, slot: slot)] {
                value.withUnsafeBufferPointer { instance.take($0, slot) }
            }
        }
        try finish(instance, missing)
    }
}
