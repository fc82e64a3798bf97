/// A table with one value for each of the first `limit` names. All later names share one value, so that a client that
/// invents names cannot make the table grow.
public struct LabelTable<Value: Sendable>: Sendable {
    /// The name of the value that all later names share.
    public static var others: String { "(other)" }

    /// The names and their values, in the order of the names' first use.
    public var entries: [(name: String, value: Value)] { zip(names, values).map { ($0, $1) } }

    private let limit: Int
    private let empty: Value
    @usableFromInline var names: [String] = []
    @usableFromInline var values: [Value] = []
    private var places: [String: Int] = [:]
    /// The place of the last access: most accesses repeat it, and then need no hash.
    @usableFromInline var last = 0

    /// Creates an empty table.
    ///
    /// - Parameters:
    ///   - limit: the number of names that have a value of their own; at least 1.
    ///   - empty: the value of a new name.
    public init(limit: Int, empty: Value) {
        precondition(limit > 0, "a table has room for a name")
        self.limit = limit
        self.empty = empty
    }

    /// The value of a name; changed in place.
    public subscript(name: String) -> Value {
        @inlinable mutating _modify {
            if last >= names.count || names[last] != name { last = find(name) }
            yield &values[last]
        }
        @inlinable mutating get {
            if last >= names.count || names[last] != name { last = find(name) }
            return values[last]
        }
    }

    /// The place of a name; adds the name if it is new.
    @usableFromInline
    mutating func find(_ name: String) -> Int { places[name] ?? add(name) }

    private mutating func add(_ name: String) -> Int {
        let name = names.count < limit ? name : Self.others
        if let place = places[name] { return place }
        names.append(name)
        values.append(empty)
        places[name] = names.count - 1
        return names.count - 1
    }
}

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
