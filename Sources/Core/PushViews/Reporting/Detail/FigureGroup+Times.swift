import PushModel

extension FigureGroup {
    /// One of the three times of an invocation.
    enum Clock: String, CaseIterable {
        /// From acceptance to the start of the handler.
        case queue
        /// From the start of the handler to its end.
        case exec
        /// From acceptance to the end.
        case total

        /// The name in a table.
        var title: String { rawValue.prefix(1).uppercased() + rawValue.dropFirst() }
    }

    /// Returns the histogram of a clock.
    func histogram(_ clock: Clock) -> Histogram {
        switch clock {
        case .queue: queue
        case .exec: exec
        case .total: total
        }
    }

    /// The times that tables show beside a group's counts; their headings name the clock.
    static let times: [(title: String, clock: Clock, permille: Int?)] = [
        ("Exec p50", .exec, 500), ("Exec p99", .exec, 990), ("Exec max", .exec, nil), ("Queue p50", .queue, 500),
        ("Queue p99", .queue, 990), ("Total p50", .total, 500), ("Total p99", .total, 990),
    ]

    /// The values of `times` in milliseconds.
    var shownTimes: [String] {
        Self.times.map { time in
            let histogram = histogram(time.clock)
            return groupedMilliseconds(time.permille.map { histogram.quantile(permille: $0) } ?? histogram.max)
        }
    }

    /// The quantiles that tables show for each clock.
    static let quantiles: [(title: String, permille: Int)] = [
        ("p50", 500), ("p90", 900), ("p99", 990), ("p99.9", 999),
    ]

    /// A row for each clock: its name, the quantiles and the maximum, in milliseconds.
    var shownClocks: [[String]] {
        Clock.allCases.map { clock in
            let histogram = histogram(clock)
            let quantiles = Self.quantiles.map { groupedMilliseconds(histogram.quantile(permille: $0.permille)) }
            return [clock.title] + quantiles + [groupedMilliseconds(histogram.max)]
        }
    }

    /// The headings above `shownClocks`.
    static let clockTitles = ["Time (ms)"] + quantiles.map(\.title) + ["max"]
}
