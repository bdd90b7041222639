import TributaryEngine

extension SourceList {
    /// Which sources of a table match a query, and their order.
    struct Choice {
        let query: SourceQuery
        let table: SourceTable
        let running: Set<String>

        func matches(_ index: Int) -> Bool {
            switch query.filter {
            case nil: break
            case .running: if !table.isRunning(index, running) { return false }
            case .condition(let condition): if table.conditions[index] != condition { return false }
            }
            if let cause = query.cause, table.causes[index]?.text != cause { return false }
            return query.text.isEmpty || table.texts[index].contains(query.text.lowercased())
        }

        func sorted(_ found: [Int]) -> [Int] {
            switch query.order {
            case .name: found.sorted { table.names[$0] < table.names[$1] }
            case .state:
                // Those with a common error are together, the most frequent one first.
                SourceCondition.allCases.flatMap { condition in
                    let own = found.filter { table.conditions[$0] == condition }
                    guard own.contains(where: { table.causes[$0] != nil }) else { return own }
                    let counts = own.map { table.common.count(of: table.causes[$0]) }
                    return own.indices.sorted {
                        (counts[$1], table.causes[own[$0]]?.text ?? "", own[$0])
                            < (counts[$0], table.causes[own[$1]]?.text ?? "", own[$1])
                    }.map { own[$0] }
                }
            case .success: found.sorted { (table.successes[$0], $0) < (table.successes[$1], $1) }
            case .due: found.sorted { (table.dueTimes[$0], $0) < (table.dueTimes[$1], $1) }
            }
        }
    }
}
