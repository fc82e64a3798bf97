public import PushModel

/// The metrics of the daemon as text. All names are in ``DaemonMetrics`` and ``CountedMetrics``.
public enum OpenMetrics {
    /// All metrics, each line with its line feed.
    ///
    /// - Parameters:
    ///   - status: what the daemon says of itself. What it does not have is left out.
    ///   - format: the form of the text.
    public static func text(of status: JSONNode, as format: MetricsFormat) -> String {
        let start = status["process"]?["started_at_ms"]?.int64.map { decimal($0, scale: 3) }
        var writer = MetricWriter(format: format, created: start)
        writer.write(MetricFamily.up, [MetricSample("1")])
        for family in DaemonMetrics.all + CountedMetrics.all { writer.write(family, family.samples(status)) }
        return writer.ended()
    }

    /// What is left to say when the daemon does not answer.
    public static func textOfNoAnswer(as format: MetricsFormat) -> String {
        var writer = MetricWriter(format: format, created: nil)
        writer.write(MetricFamily.up, [MetricSample("0")])
        return writer.ended()
    }

    /// The names of all samples that the metrics have, without labels; for who has to check what is asked of them.
    public static var sampleNames: [String] {
        ([MetricFamily.up] + DaemonMetrics.all + CountedMetrics.all).flatMap(\.sampleNames)
    }
}
