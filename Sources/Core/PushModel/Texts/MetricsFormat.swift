/// A text format of metrics. The raw values are the words on the sockets and the command line.
public enum MetricsFormat: String, Sendable, CaseIterable {
    /// OpenMetrics 1.0 (https://github.com/prometheus/OpenMetrics/blob/main/specification/OpenMetrics.md).
    case openMetrics = "openmetrics"
    /// The Prometheus text format, version 0.0.4, which the text files of its node exporter use
    /// (https://prometheus.io/docs/instrumenting/exposition_formats/).
    case prometheus

    /// The `Content-Type` of the format over HTTP.
    public var contentType: String {
        switch self {
        case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
        case .prometheus: "text/plain; version=0.0.4; charset=utf-8"
        }
    }
}
