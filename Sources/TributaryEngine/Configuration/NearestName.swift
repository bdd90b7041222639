/// The name that somebody most likely meant, if one is close: at most two in five of its letters differ.
func nearestName(to name: String, among names: some Sequence<String>) -> String? {
    let candidates = names.map { (name: $0, distance: editDistance(Array(name.lowercased()), Array($0.lowercased()))) }
    guard let best = candidates.min(by: { ($0.distance, $0.name) < ($1.distance, $1.name) }),
        best.distance * 5 <= max(name.count, best.name.count) * 2
    else { return nil }
    return best.name
}

/// Insertions, deletions, replacements and exchanges of neighbours that turn one word into the other.
private func editDistance(_ left: [Character], _ right: [Character]) -> Int {
    var beforeLast: [Int] = []
    var last = Array(0...right.count)
    for i in left.indices {
        var row = [i + 1]
        for j in right.indices {
            var distance = min(last[j + 1] + 1, row[j] + 1, last[j] + (left[i] == right[j] ? 0 : 1))
            if i > 0, j > 0, left[i] == right[j - 1], left[i - 1] == right[j] {
                distance = min(distance, beforeLast[j - 1] + 1)
            }
            row.append(distance)
        }
        (beforeLast, last) = (last, row)
    }
    return last[right.count]
}
