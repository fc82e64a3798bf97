import PushModel

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
    func ended() -> String { format == .openMetrics ? text + "# EOF\n" : text }

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
