public import PushModel

extension MetricsFormat {
    /// The format that an `Accept` header prefers (RFC 9110, 12.5.1): OpenMetrics only where it is named, and where the
    /// older one is not preferred by its quality. Who names neither gets the older one, which a person can read as well.
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

    /// How many types of a header are looked at.
    private static let partsMax = 32
}
