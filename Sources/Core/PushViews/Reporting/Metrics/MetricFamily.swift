import PushModel

/// One value of a metric.
struct MetricSample {
    enum Value {
        case number(String)
        case histogram(DurationHistogram)
    }

    let labels: [(name: String, value: String)]
    let value: Value

    init(_ value: Value, _ labels: [(String, String)] = []) {
        self.labels = labels.map { (name: $0, value: $1) }
        self.value = value
    }

    /// A number in its written form.
    init(_ number: String, _ labels: [(String, String)] = []) { self.init(.number(number), labels) }
}

/// A metric: its name, its help text and its values in the status.
struct MetricFamily: Sendable {
    enum Kind: String {
        case gauge, counter, histogram
    }

    /// The name without the suffixes of the samples.
    let name: String
    let kind: Kind
    let help: String
    /// The names of its labels.
    let labels: [String]
    private(set) var samples: @Sendable (StatusValue) -> [MetricSample]

    init(
        _ name: String, _ help: String, _ kind: Kind = .gauge, labels: [String] = [],
        _ samples: @escaping @Sendable (StatusValue) -> [MetricSample]
    ) {
        self.name = "pushrouterd_" + name
        self.kind = kind
        self.help = help
        self.labels = labels
        self.samples = samples
    }

    /// Returns the metric with the values of another one appended.
    func joined(with other: MetricFamily) -> MetricFamily {
        var joined = self
        let own = samples
        joined.samples = { own($0) + other.samples($0) }
        return joined
    }

    /// Whether the daemon answered; the program that asks the daemon writes the value.
    static let up = MetricFamily("up", "1 when the daemon answered, 0 when it did not.") { _ in [MetricSample("1")] }

    /// All metrics in the order of the output.
    static let all = [up, StatusField.buildInfo] + StatusField.metrics + CountedMetrics.all

    /// The unit at the end of the name.
    var unit: String? { ["seconds", "bytes"].first { name.hasSuffix("_\($0)") } }

    /// The names of its samples.
    var sampleNames: [String] {
        switch kind {
        case .gauge: [name]
        case .counter: [name + "_total"]
        case .histogram: ["_bucket", "_count", "_sum"].map { name + $0 }
        }
    }
}
