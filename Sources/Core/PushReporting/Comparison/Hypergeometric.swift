/// Fisher's exact test on a table of two by two counts.
///
/// It is exact for any number of rows, so ten rows prove as little as they can prove.
enum Hypergeometric {
    /// How likely it is that at least `marked` of `drawn` rows are marked, when `drawn` rows are taken blindly out of
    /// `rows` of which `markedInAll` are marked: the one-sided p-value.
    ///
    /// Each weight is a ratio of its neighbour, from the likeliest count outwards, so it needs no factorials: what is
    /// too small to change the sum is left out.
    static func upperTail(marked: Int, drawn: Int, markedInAll: Int, rows: Int) -> Double {
        let lowest = max(0, drawn + markedInAll - rows)
        let highest = min(drawn, markedInAll)
        precondition(lowest <= marked && marked <= highest, "\(marked) of \(drawn) cannot be marked")
        let likeliest = Double(drawn + 1) * Double(markedInAll + 1) / Double(rows + 2)
        let mode = min(max(Int(likeliest), lowest), highest)
        let negligible = 1e-18

        var (all, tail) = (1.0, mode >= marked ? 1.0 : 0.0)
        var weight = 1.0
        var count = mode
        while count < highest {
            weight *=
                Double(markedInAll - count) * Double(drawn - count)
                / (Double(count + 1) * Double(rows - markedInAll - drawn + count + 1))
            count += 1
            all += weight
            if count >= marked { tail += weight }
            // Beyond the wanted count smaller weights change nothing; before it they are what is asked for.
            if weight < negligible, count >= marked || weight < 1e-290 { break }
        }
        weight = 1
        count = mode
        while count > lowest {
            weight *=
                Double(count) * Double(rows - markedInAll - drawn + count)
                / (Double(markedInAll - count + 1) * Double(drawn - count + 1))
            count -= 1
            all += weight
            if count >= marked { tail += weight }
            if weight < negligible { break }
        }
        return min(1, tail / all)
    }
}
