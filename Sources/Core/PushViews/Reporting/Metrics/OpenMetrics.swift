public import PushModel

/// The metrics of the daemon as text, declared in ``StatusField`` and ``CountedMetrics``.
public enum OpenMetrics {
    /// Returns all metrics, each line with its line feed.
    ///
    /// - Parameters:
    ///   - status: the daemon's status. Metrics without a value there are left out.
    ///   - format: the form of the text.
    public static func text(of status: StatusValue, as format: MetricsFormat) -> String {
        let start = status["process"]?["started_at_ms"]?.integer.map { decimal($0, scale: 3) }
        var writer = MetricWriter(format: format, created: start)
        for family in MetricFamily.all { writer.write(family, family.samples(status)) }
        return writer.ended()
    }

    /// Returns the text for a daemon that does not answer.
    public static func textOfNoAnswer(as format: MetricsFormat) -> String {
        var writer = MetricWriter(format: format, created: nil)
        writer.write(MetricFamily.up, [MetricSample("0")])
        return writer.ended()
    }

    /// The names of all samples, without labels; tests check queries against them.
    static var sampleNames: [String] {
        MetricFamily.all.flatMap(\.sampleNames)
    }

    /// The list of the metrics for pushrouter-metrics(8), in mdoc(7).
    public static var manualList: String {
        MetricFamily.all.map { family in
            let name = family.kind == .counter ? family.name + "_total" : family.name
            let labels = family.labels.isEmpty ? "" : " Bro Cm \(family.labels.joined(separator: " , ")) Brc"
            return ".It Cm \(name.dropFirst("pushrouterd_".count))\(labels)\n\(family.help)\n"
        }.joined()
    }
}
