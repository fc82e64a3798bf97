/// The candidate that a misspelt or shortened `word` most likely means, or `nil` if none is near.
public func nearest(to word: String, among candidates: some Sequence<String>) -> String? {
    let near = candidates.compactMap { candidate -> (name: String, distance: Int)? in
        let tolerance = max(1, candidate.utf8.count / 3)
        guard abs(candidate.utf8.count - word.utf8.count) <= tolerance else { return nil }
        let distance = editDistance(Array(word.lowercased().utf8), Array(candidate.lowercased().utf8))
        return distance <= tolerance ? (candidate, distance) : nil
    }
    // Sorts equally near candidates by name, so that the same mistake always gets the same answer.
    if let best = near.min(by: { ($0.distance, $0.name) < ($1.distance, $1.name) }) { return best.name }
    let longer = candidates.filter { $0.lowercased().hasPrefix(word.lowercased()) }
    return word.isEmpty || word.utf8.count < 3 && longer.count > 1 ? nil : longer.min()
}

/// Returns `; did you mean Budget=?`, or an empty text if no candidate is near.
public func suggestion(
    for word: String, among candidates: some Sequence<String>, as spelled: (String) -> String = { $0 }
) -> String {
    nearest(to: word, among: candidates).map { "; did you mean \(spelled($0))?" } ?? ""
}

/// The optimal string alignment distance: the number of bytes to insert, remove, replace or exchange with their
/// neighbour to turn one text into the other.
private func editDistance(_ left: [UInt8], _ right: [UInt8]) -> Int {
    var beforeLast: [Int] = []
    var previous = Array(0...right.count)
    for (row, byte) in left.enumerated() {
        var current = [row + 1]
        for column in right.indices {
            let replaced = previous[column] + (byte == right[column] ? 0 : 1)
            var distance = min(replaced, previous[column + 1] + 1, current[column] + 1)
            if row > 0, column > 0, byte == right[column - 1], left[row - 1] == right[column] {
                distance = min(distance, beforeLast[column - 1] + 1)
            }
            current.append(distance)
        }
        (beforeLast, previous) = (previous, current)
    }
    return previous[right.count]
}
