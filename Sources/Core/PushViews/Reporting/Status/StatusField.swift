import PushModel

/// The single declaration of a fact in the daemon's status. It gives the metric and the text of the manual pages; the
/// daemon gives the value.
public struct StatusField: Sendable {
    typealias Samples = @Sendable (StatusValue, [(String, String)]) -> [MetricSample]

    /// The path in the status, such as `store.log_bytes`; `NAME` stands for the name of a handler.
    public let name: String
    /// The meaning for people; a sentence.
    public let meaning: String
    /// The metric; `nil` for a fact without one.
    let metric: MetricFamily?

    /// A fact without a metric.
    init(_ name: String, _ meaning: String) {
        (self.name, self.meaning, metric) = (name, meaning, nil)
    }

    /// - Parameters:
    ///   - kind: the kind of the metric.
    ///   - metric: the metric's name, ending in its unit, if it differs from the fact's: metrics have times in seconds.
    ///   - label: the label that distinguishes facts of the same metric.
    ///   - each: the label for the names of its members; each member is then a value.
    ///   - labels: the names of further labels.
    ///   - samples: returns the values, if they are not the fact itself.
    init(
        _ name: String, _ kind: MetricFamily.Kind, _ meaning: String, metric: String? = nil,
        label: (String, String)? = nil, each: String? = nil, labels: [String] = [], samples: Samples? = nil
    ) {
        self.name = name
        self.meaning = meaning
        let path = name.split(separator: ".").map(String.init)
        let fixed = label.map { [$0] } ?? []
        let names = (path.contains("NAME") ? ["handler"] : []) + fixed.map(\.0) + (each.map { [$0] } ?? []) + labels
        self.metric = MetricFamily(metric ?? path.last ?? "", meaning, kind, labels: names) { status in
            Self.values(of: status, at: path[...], fixed).flatMap { value, labels in
                if let samples { return samples(value, labels) }
                guard let each else { return Self.sample(value, path.last ?? "", labels) }
                return value.members.flatMap { Self.sample($0.value, $0.name, labels + [(each, $0.name)]) }
            }
        }
    }

    /// Returns the daemon's problems: the fields of a status named `..._problem`, labelled by the part before
    /// `_problem`. Each line of one is a problem.
    ///
    /// - Parameter status: the daemon's answer to `op: status`; `nil` without an answer.
    static func problems(_ status: JSONNode?) -> [LabelledFact] {
        all.flatMap { field -> [LabelledFact] in
            let path = field.name.split(separator: ".").map(String.init)
            guard let name = path.last, name.hasSuffix("_problem"),
                let problem = path.reduce(status, { $0?[$1] })?.string
            else { return [] }
            return problem.split(separator: "\n").map {
                LabelledFact(label: "Problem", text: "\(name.dropLast(8)): \($0)", tone: .bad)
            }
        }
    }

    /// The metrics of all fields, in their order; fields with the same metric join as one.
    static var metrics: [MetricFamily] {
        all.compactMap(\.metric).reduce(into: []) { families, metric in
            if let last = families.last, last.name == metric.name {
                families[families.count - 1] = last.joined(with: metric)
            } else {
                families.append(metric)
            }
        }
    }

    private static func values(
        of value: StatusValue, at path: ArraySlice<String>, _ labels: [(String, String)]
    ) -> [(StatusValue, [(String, String)])] {
        guard let name = path.first else { return [(value, labels)] }
        let rest = path.dropFirst()
        guard name != "NAME" else {
            return value.members.flatMap { values(of: $0.value, at: rest, labels + [("handler", $0.name)]) }
        }
        return value[name].map { values(of: $0, at: rest, labels) } ?? []
    }

    /// Returns times in seconds, a problem as 1, other numbers unchanged.
    private static func sample(_ value: StatusValue, _ name: String, _ labels: [(String, String)]) -> [MetricSample] {
        switch value {
        case .integer(let number) where name.hasSuffix("_us"): [MetricSample(decimal(number, scale: 6), labels)]
        case .integer(let number) where name.hasSuffix("_ms"): [MetricSample(decimal(number, scale: 3), labels)]
        case .integer(let number): [MetricSample(String(number), labels)]
        case .flag(let flag): [MetricSample(flag ? "1" : "0", labels)]
        case .text where name.hasSuffix("_problem"): [MetricSample("1", labels)]
        case .null where name.hasSuffix("_problem"): [MetricSample("0", labels)]
        default: []
        }
    }
}
