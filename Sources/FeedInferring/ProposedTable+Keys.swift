extension ProposedTable {
    /// Returns why the key is the position: a clause, or nothing where the name of the enclosing record says it.
    ///
    /// - Parameter within: the table of the enclosing records; nil for the position in the document.
    func reasonForPosition(_ within: ProposedTable?) -> String {
        if count.isPartial {
            return ", because at most \(DigestSet.Budget.limit.grouped) values are compared with one another"
        }
        if isDeclared { return ", because the schema declares no key" }
        guard let within else {
            let areEqual = count.comparesRows && !count.rowsDiffer
            return ", because \(lackOfKey)" + (areEqual ? ", and some records are equal" : "")
        }
        if count.severals == 0 {
            return ", because no \(within.name) has more than one, which could show another key"
        }
        return count.severals < RecordCount.few && !count.amongSiblings.isEmpty
            ? ", because too few of them have several to show another key" : ""
    }

    /// True for a table whose records a schema declares. A document shows no more of them than that a key is none.
    var isDeclared: Bool { element.declaration != nil }

    /// The best value that is unique in the document. Records within others need one that is so in every document; those of
    /// a parent with a key of several columns have that parent in theirs, because they are mirrored within it.
    var uniqueInDocument: KeyChoice.Choice? {
        guard let parent, count.orphans == 0 else {
            return count.unique { !isDeclared || values[$0.index].isRequired }
        }
        return isDeclared || parent.key.count > 1 ? nil : count.unique { $0.isUniversal && count.isShown($0) }
    }

    /// Why no value is a key, with the values that are too long for one.
    var lackOfKey: String {
        let long = values.filter {
            !$0.isProse && $0.isInEach(of: self) && $0.profile.maximumLength > ValueProfile.longestKey
        }
        let names = long.prefix(3).map { SQLName.join($0.names) } + (long.count > 3 ? ["…"] : [])
        return "no value that may be a key is unique"
            + (long.isEmpty ? "" : " (\(names.joined(separator: ", ")): longer than \(ValueProfile.longestKey) bytes)")
    }

    /// The column of the enclosing record, if the table is mirrored within it: a record that has left it leaves no row. Nil if
    /// the tables below are not mirrored too, because they would keep rows without a parent.
    var parentOfMirror: String? {
        guard let parent, count.orphans == 0, !key.isEmpty,
            // The rows of a parent whose key is of several columns are found when its key is known.
            parent.key.count == 1 || key.contains(columns[0].name),
            children.allSatisfy({ $0.parentOfMirror != nil })
        else { return nil }
        return columns[0].name
    }
}
