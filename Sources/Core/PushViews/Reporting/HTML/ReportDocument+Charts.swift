import PushModel

extension ReportDocument {
    private static let chartWidth = 900
    /// The horizontal bounds of the drawing, to the right of the row names.
    private static let (left, right) = (90.0, 890.0)

    /// Time from acceptance to the end over time: a cell for each span and latency band, in a stronger colour for more
    /// rows.
    var heatMap: String {
        let spans = detail.timeline.spans
        let bands = Timeline.bounds.count + 1
        let used = (0..<bands).filter { band in spans.contains { $0.slot.bands[band] > 0 } }
        guard let lowest = used.first, let highest = used.last else { return "" }
        let most = spans.reduce(0) { max($0, $1.slot.bands.max() ?? 0) }
        let (height, top) = (18.0, 8.0)
        let shown = Array((lowest...highest).reversed())
        let bottom = top + Double(shown.count) * height
        var chart = SVGChart(
            id: "heat-map", title: "Latency over time",
            description: "Invocations by time from acceptance to the end, from \(Timeline.bound(of: lowest)) to "
                + "\(Timeline.bound(of: highest)); the fullest cell has \(grouped(most)).", width: Self.chartWidth,
            height: Int(bottom) + 76)
        let step = (Self.right - Self.left) / Double(spans.count)
        for (row, band) in shown.enumerated() {
            let y = top + Double(row) * height
            chart.text(Self.left - 8, y + 13, Timeline.bound(of: band), anchor: "end")
            for (index, (begin, slot)) in spans.enumerated() where slot.bands[band] > 0 {
                let shade = Self.shade(slot.bands[band], of: most)
                chart.rectangle(
                    Self.left + Double(index) * step, y, max(0.5, step), height - 1, "heat\(shade)",
                    label: "\(zone.text(begin)), \(Timeline.bound(of: band)): \(grouped(slot.bands[band]))")
            }
            // The deadline lies between two bands.
            if band < Timeline.bounds.count, Timeline.bounds[band] == 9_000_000, row > 0 {
                chart.line(Self.left, y - 0.5, Self.right, y - 0.5, "limit")
            }
        }
        chart.rectangle(Self.left, top, Self.right - Self.left, bottom - top, "frame")
        addTimes(to: &chart, spans.map(\.begin), y: bottom + 20)
        addShades(to: &chart, most: most, y: bottom + 50)
        return chart.wideText
    }

    private static let shades = 6

    /// Returns the shade of a count, from 1 to `shades` for the fullest cell. A single row has a visible colour, and
    /// each further shade needs a larger step than the one before.
    private static func shade(_ count: Int, of most: Int) -> Int {
        (1...shades).last { count >= least(of: $0, most) } ?? 1
    }

    /// Returns the fewest rows that have a shade.
    private static func least(of shade: Int, _ most: Int) -> Int {
        let share = Double(shade - 1) / Double(shades)
        return max(1, Int((share * share * Double(most)).rounded(.up)))
    }

    /// Draws the legend of the heat map.
    private func addShades(to chart: inout SVGChart, most: Int, y: Double) {
        chart.text(Self.left - 8, y + 10, "Invocations:", anchor: "end")
        let used = (1...Self.shades).filter { Self.shade(Self.least(of: $0, most), of: most) == $0 }
        for (place, shade) in used.enumerated() {
            let x = Self.left + Double(place) * 130
            chart.rectangle(x, y, 12, 12, "heat\(shade)")
            chart.text(x + 18, y + 10, "\(grouped(Self.least(of: shade, most))) or more")
        }
    }

    /// Returns the histogram of a group's times on a logarithmic axis.
    /// - Parameter hasLimits: whether to draw the limits as lines; set for times that count towards them.
    func histogramChart(_ histogram: Histogram, id: String, title: String, hasLimits: Bool = true) -> String {
        let buckets = histogram.filledBuckets
        guard let first = buckets.first, let last = buckets.last else { return "" }
        let quarter = 4.0
        let lowest = (Self.doublings(max(1, first.lowest)) * quarter).rounded(.down)
        let highest = max((Self.doublings(max(1, last.highest)) * quarter).rounded(.up), lowest + 24)
        var bars = Array(repeating: 0, count: Int(highest - lowest) + 1)
        for bucket in buckets {
            let middle = max(1, bucket.lowest)
            bars[Int((Self.doublings(middle) * quarter).rounded(.down) - lowest)] += bucket.count
        }
        let most = bars.max() ?? 1
        let (left, right, top, bottom) = (10.0, 415.0, 20.0, 150.0)
        let step = (right - left) / Double(bars.count)
        let quantiles = [("p50", 500), ("p99", 990)].map {
            "\($0.0) \(groupedMilliseconds(histogram.quantile(permille: $0.1))) ms"
        }
        var chart = SVGChart(
            id: id, title: title,
            description: "\(grouped(histogram.count)) \(histogram.count == 1 ? "invocation" : "invocations"); "
                + "\(quantiles.joined(separator: ", ")), longest \(groupedMilliseconds(histogram.max)) ms.",
            width: 450, height: 190)
        chart.line(left, bottom, right, bottom, "axis")
        for (index, count) in bars.enumerated() where count > 0 {
            let height = max(1, Double(count) / Double(most) * (bottom - top))
            chart.rectangle(
                left + Double(index) * step, bottom - height, step * 0.92, height, "bar",
                label: grouped(count))
        }
        func x(_ microseconds: Int64) -> Double {
            left + (Self.doublings(microseconds) * quarter - lowest) / Double(bars.count) * (right - left)
        }
        for (microseconds, name) in Self.ticks where (left...right - 20).contains(x(microseconds)) {
            chart.line(x(microseconds), bottom, x(microseconds), bottom + 4, "axis")
            chart.text(x(microseconds), bottom + 18, name, anchor: "middle")
        }
        // Limit lines that are close together share one label: separate labels would overlap.
        var crowd: [(seconds: Int64, place: Double)] = []
        func nameCrowd() {
            guard let last = crowd.last else { return }
            let names = crowd.map { String($0.seconds) }.joined(separator: ", ")
            chart.text(min(last.place + 10, 448), 12, "\(names) s", anchor: "end", kind: "limitname")
            crowd = []
        }
        for seconds in hasLimits ? Self.limitSeconds : [] where (left...right + 1).contains(x(seconds * 1_000_000)) {
            let place = x(seconds * 1_000_000)
            chart.line(place, top - 6, place, bottom, "limit")
            if let last = crowd.last, place - last.place > 45 { nameCrowd() }
            crowd.append((seconds, place))
        }
        nameCrowd()
        chart.text(left, bottom + 36, "longest bar: \(grouped(most))")
        return chart.markupText
    }

    /// `1 min`, `2 h`.
    var spanOfTime: String { spanInWords(.milliseconds(detail.timeline.width)) }

    private static let limitSeconds = Set(PlatformLimit.all.map { $0.limit.components.seconds }).sorted()

    private static let ticks: [(Int64, String)] = [
        (10, "10 µs"), (100, "0.1 ms"), (1000, "1 ms"), (10_000, "10 ms"), (100_000, "0.1 s"), (1_000_000, "1 s"),
        (10_000_000, "10 s"), (100_000_000, "100 s"),
    ]

    /// Returns the binary logarithm of a time in microseconds, linear between powers of two.
    private static func doublings(_ microseconds: Int64) -> Double {
        let whole = Int64.bitWidth - 1 - microseconds.leadingZeroBitCount
        return Double(whole) + Double(microseconds) / Double(Int64(1) << Int64(whole)) - 1
    }

    /// Draws the begins of some spans below their bars, and the length of a span below that.
    private func addTimes(to chart: inout SVGChart, _ begins: [WallTime], y: Double) {
        let step = (Self.right - Self.left) / Double(max(1, begins.count))
        for index in Set((0..<4).map { $0 * begins.count / 4 }).sorted() where index < begins.count {
            let x = Self.left + Double(index) * step
            chart.line(x, y - 14, x, y - 10, "axis")
            chart.text(x, y, zone.text(begins[index]))
        }
        chart.text(Self.right, y + 14, "spans of \(spanOfTime)", anchor: "end")
    }
}

/// An SVG drawing with a title and a description for screen readers.
struct SVGChart {
    private let id: String
    private let title: String
    private let description: String
    private let width: Int
    private let height: Int
    private var content = ""

    init(id: String, title: String, description: String, width: Int, height: Int) {
        self.id = id
        self.title = title
        self.description = description
        self.width = width
        self.height = height
    }

    /// Adds a filled rectangle; the label shows while the pointer rests on it.
    mutating func rectangle(
        _ x: Double, _ y: Double, _ width: Double, _ height: Double, _ kind: String, label: String? = nil
    ) {
        let place = "x=\"\(number(x))\" y=\"\(number(y))\" width=\"\(number(width))\" height=\"\(number(height))\""
        content += "<rect class=\"\(kind)\" \(place)"
        content += label.map { "><title>\(markup($0))</title></rect>\n" } ?? "/>\n"
    }

    mutating func line(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, _ kind: String) {
        content +=
            "<line class=\"\(kind)\" x1=\"\(number(x1))\" y1=\"\(number(y1))\" x2=\"\(number(x2))\" y2=\"\(number(y2))\"/>\n"
    }

    mutating func text(_ x: Double, _ y: Double, _ text: String, anchor: String = "start", kind: String? = nil) {
        let style = kind.map { " class=\"\($0)\"" } ?? ""
        content +=
            "<text\(style) x=\"\(number(x))\" y=\"\(number(y))\" text-anchor=\"\(anchor)\">\(markup(text))</text>\n"
    }

    /// The markup.
    var markupText: String {
        "<svg role=\"img\" aria-labelledby=\"\(id)-title \(id)-text\" viewBox=\"0 0 \(width) \(height)\" "
            + "xmlns=\"http://www.w3.org/2000/svg\">\n<title id=\"\(id)-title\">\(markup(title))</title>\n"
            + "<desc id=\"\(id)-text\">\(markup(description))</desc>\n\(content)</svg>\n"
    }

    /// The markup of a wide drawing. On a small screen it scrolls, so that its text stays readable.
    var wideText: String {
        "<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"\(markup(title))\"><div class=\"chart\">"
            + "\(markupText)</div></div>\n"
    }

    private func number(_ value: Double) -> String { rounded(value, decimals: 1) }
}
