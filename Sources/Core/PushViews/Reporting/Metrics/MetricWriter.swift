public import PushModel

/// Writes metrics as text.
struct MetricWriter {
    let format: MetricsFormat
    /// The time at which counting began, in seconds since 1970; OpenMetrics has it beside each count.
    let created: String?
    private var text = ""

    init(format: MetricsFormat, created: String?) {
        self.format = format
        self.created = created
    }

    /// Adds a metric; skips one without values.
    mutating func write(_ family: MetricFamily, _ samples: [MetricSample]) {
        guard !samples.isEmpty else { return }
        // In the Prometheus format a counter has the name of its samples.
        let name = format == .prometheus && family.kind == .counter ? family.name + "_total" : family.name
        if format == .openMetrics {
            text += "# TYPE \(name) \(family.kind.rawValue)\n"
            if let unit = family.unit { text += "# UNIT \(name) \(unit)\n" }
            text += "# HELP \(name) \(family.help)\n"
        } else {
            text += "# HELP \(name) \(family.help)\n# TYPE \(name) \(family.kind.rawValue)\n"
        }
        for sample in samples { write(sample, of: family) }
    }

    /// Returns the whole text; OpenMetrics has `# EOF` at its end.
    func ended() -> String { format == .openMetrics ? text + Self.end : text }

    /// The last line of OpenMetrics.
    static let end = "# EOF\n"

    private mutating func write(_ sample: MetricSample, of family: MetricFamily) {
        let labels = sample.labels.map { "\($0.name)=\"\(Self.escaped($0.value))\"" }.joined(separator: ",")
        switch sample.value {
        case .number(let number):
            line(family.name + (family.kind == .counter ? "_total" : ""), labels, number)
        case .histogram(let histogram):
            var sum: UInt64 = 0
            for (count, bound) in zip(histogram.counts, histogram.bounds.map(Self.bound) + ["+Inf"]) {
                sum += count
                line(family.name + "_bucket", labels + (labels.isEmpty ? "" : ",") + "le=\"\(bound)\"", String(sum))
            }
            line(family.name + "_count", labels, String(sum))
            line(family.name + "_sum", labels, decimal(histogram.sum.microseconds, scale: 6))
        }
        if format == .openMetrics, family.kind != .gauge, let created {
            line(family.name + "_created", labels, created)
        }
    }

    private mutating func line(_ name: String, _ labels: String, _ value: String) {
        text += name
        if !labels.isEmpty { text += "{\(labels)}" }
        text += " \(value)\n"
    }

    /// Returns a bucket's bound in seconds with a decimal point: OpenMetrics compares bounds as text. Both formats use
    /// it, so that a change of format starts no new series.
    private static func bound(_ duration: Duration) -> String {
        let text = decimal(duration.microseconds, scale: 6)
        return text.contains(".") ? text : text + ".0"
    }

    private static func escaped(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 == 0x5C || $0 == 0x22 || $0 == 0x0A }) else { return text }
        return text.unicodeScalars.reduce(into: "") { escaped, scalar in
            switch scalar {
            case "\\": escaped += "\\\\"
            case "\"": escaped += "\\\""
            case "\n": escaped += "\\n"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
    }
}

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
    static let all = [up, StatusField.buildInfo] + StatusField.metrics + CountedMetrics.all + ProgramMetrics.all

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

extension MetricsFormat {
    /// Returns the format that an `Accept` header prefers (RFC 9110, 12.5.1): OpenMetrics if the header names it and
    /// gives the Prometheus format no higher quality. A header with neither gets the Prometheus format, which people
    /// can read too.
    public init(accepting header: String?) {
        var qualities: [MetricsFormat: Double] = [:]
        for part in (header ?? "").split(separator: ",").prefix(Self.partsMax) {
            let words = part.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
            let format: MetricsFormat
            switch words.first {
            case "application/openmetrics-text":
                // Version 0.0.1 was a draft.
                guard !words.contains(where: { $0.hasPrefix("version=") && $0 != "version=1.0.0" }) else { continue }
                format = .openMetrics
            case "text/plain", "text/*", "*/*": format = .prometheus
            default: continue
            }
            let quality = words.first { $0.hasPrefix("q=") }.flatMap { Double($0.dropFirst(2)) } ?? 1
            qualities[format] = max(qualities[format] ?? 0, quality)
        }
        let wanted = qualities[.openMetrics] ?? 0
        self = wanted > 0 && wanted >= qualities[.prometheus] ?? 0 ? .openMetrics : .prometheus
    }

    /// The most media types of a header to read.
    private static let partsMax = 32
}
