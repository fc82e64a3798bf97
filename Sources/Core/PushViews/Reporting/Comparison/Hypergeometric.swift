/// Fisher's exact test on a two-by-two table of counts.
///
/// The test is exact for any number of rows, including very few.
enum Hypergeometric {
    /// Returns the one-sided p-value: the probability that at least `marked` of `drawn` rows are marked if `drawn` rows
    /// are drawn at random from `rows`, of which `markedInAll` are marked.
    ///
    /// It computes each weight from its neighbour, from the likeliest count outwards, so it needs no factorials. It
    /// leaves out weights that are too small to change the sum.
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
            // Beyond `marked`, smaller weights change nothing; before it, they are the sum in question.
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
