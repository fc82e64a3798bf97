public import PushModel

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
