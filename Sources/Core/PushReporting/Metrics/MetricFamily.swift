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

    /// A number as it is written.
    init(_ number: String, _ labels: [(String, String)] = []) { self.init(.number(number), labels) }
}

/// One metric: what it is called, and where in the status its values are.
struct MetricFamily: Sendable {
    enum Kind: String {
        case gauge, counter, histogram
    }

    /// Without the suffixes of its samples.
    let name: String
    let kind: Kind
    let help: String
    /// The names of the labels of its values.
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

    /// The same metric with the values of another one behind its own.
    func joined(with other: MetricFamily) -> MetricFamily {
        var joined = self
        let own = samples
        joined.samples = { own($0) + other.samples($0) }
        return joined
    }

    /// Whether the daemon answered; who asks it for metrics says so.
    static let up = MetricFamily("up", "1 when the daemon answered, 0 when it did not.") { _ in [MetricSample("1")] }

    /// All, in the order in which they are written.
    static let all = [up, StatusField.buildInfo] + StatusField.metrics + CountedMetrics.all

    /// The unit that ends the name.
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
