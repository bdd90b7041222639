import FeedModel

/// Readers of the keys by which a request is repeated: `page`, `until`, `for_each` and `slices`; and of `expect`,
/// `expire` and `after_commit`.
extension PageKeys: ValueGroup {
    func read(_ page: DeclarationReader) -> PagingDeclaration? {
        guard page.present(next, token, counter).count + (page[link] == true ? 1 : 0) == 1 else { return nil }
        return steps(page).map { PagingDeclaration(next: $0, maxPages: page.value(of: maxPages)) }
    }

    private func steps(_ page: DeclarationReader) -> PagingDeclaration.Next? {
        if page[link] == true { return .link }
        if let next = page[next] { return .path(next.path, written: next.written) }
        if let counter = page[counter] {
            return .counter(parameter: counter, start: page.value(of: start), step: page.value(of: step))
        }
        guard let token = page[token], let parameter = page[parameter] else { return nil }
        return .token(
            token.path, written: token.written,
            ContinuationParameter(name: parameter, kept: page[keep].map { Set($0) }))
    }
}

extension UntilKeys: ValueGroup {
    func read(_ until: DeclarationReader) -> UntilDeclaration? {
        let failures = until[failures] ?? []
        for value in failures where until[values]?.contains(value) == true {
            until.report(self.failures, "'\(value)' is also a value of 'is'")
        }
        let (pause, limit) = (until.value(of: every), until.value(of: within))
        let isRead = (until[every] != nil) == until.has(every) && (until[within] != nil) == until.has(within)
        if isRead, pause > limit {
            if until.has(within) {
                until.report(within, "is shorter than 'every', \(pause.configured)")
            } else {
                until.report(every, "is longer than 'within', \(limit.configured)")
            }
        }
        guard let path = until[path], let values = until[values] else { return nil }
        return UntilDeclaration(
            path: path.path, written: path.written, values: values, failures: failures, pause: pause, limit: limit)
    }
}

extension ForEachKeys: ValueGroup {
    func read(_ forEach: DeclarationReader) -> ForEachDeclaration? {
        forEach[rows].map {
            ForEachDeclaration(
                rows: .query($0), maxSkipped: forEach[onError] == .skip ? forEach.value(of: maxSkipped) : nil)
        }
    }
}

extension SliceKeys: ValueGroup {
    func read(_ table: DeclarationReader) -> SliceDeclaration? {
        guard let from = table[from] else { return nil }
        let end = table[to].flatMap { $0.value == "now" ? nil : $0 }
        let slices = SliceDeclaration(
            from: from, to: end, step: table.value(of: step), overlap: table[overlap] ?? .zero)
        var (days, times): ([String], [String]) = ([], [])
        for (key, text) in [(self.from, from), (to, end)] {
            guard let text else { continue }
            if text.references.contains(where: { $0.bound != nil || $0.column != nil }) {
                table.report(key, "takes no ${slice:…} and no ${row:…}, which have values only for a single span")
            }
            guard !text.isDynamic else { continue }
            let bound = table.reporting(key) { try SliceDeclaration.bound(text.value, key.entry.name) }
            if let bound {
                if bound.isDay { days.append(text.value) } else { times.append(text.value) }
            }
        }
        if !days.isEmpty, !times.isEmpty {
            table.report(to, "must be a day if 'from' is one, and otherwise a time")
        } else if let day = days.first {
            table.reporting(self.from) { try slices.checkDays(day) }
        }
        return slices
    }
}

extension ExpectationKeys: ValueGroup {
    func read(_ table: DeclarationReader) -> Expectation? {
        table[sql].map { Expectation(sql: $0, message: table[message], onFailure: table.value(of: onFailure)) }
    }
}

extension ExpiryKeys: ValueGroup {
    func read(_ table: DeclarationReader) -> RowExpiry? {
        guard let column = table[column], let after = table[after] else { return nil }
        return RowExpiry(column: column, after: after)
    }
}

extension AfterCommitKeys: ValueGroup {
    func read(_ table: DeclarationReader) -> FileAction? {
        table[move].map { .move(to: $0) } ?? table[action].map { _ in .delete }
    }
}
