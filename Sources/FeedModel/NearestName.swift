/// Returns the name that was most likely meant, if one is close: at most two in five of its letters differ. Names of
/// more than 100 letters are not compared.
package func nearestName(to name: String, among names: some Sequence<String>) -> String? {
    let most = 100
    guard name.utf8.count <= most else { return nil }
    let letters = Array(name.lowercased())
    let candidates = names.lazy.filter { $0.utf8.count <= most }.map { candidate in
        (name: candidate, distance: editDistance(letters, Array(candidate.lowercased())))
    }
    guard let best = candidates.min(by: { ($0.distance, $0.name) < ($1.distance, $1.name) }),
        best.distance * 5 <= max(name.count, best.name.count) * 2
    else { return nil }
    return best.name
}

/// Returns the question for that name, which is the help on a wrong one; nil if none is close.
package func didYouMean(_ name: String, among names: some Sequence<String>) -> String? {
    nearestName(to: name, among: names).map { "did you mean '\($0)'?" }
}

/// Returns the least number of insertions, deletions, replacements and exchanges of neighbours that turn one word into
/// the other.
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
