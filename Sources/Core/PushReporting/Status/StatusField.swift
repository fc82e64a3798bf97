import PushModel

/// One fact of the daemon's status: the one declaration of it. The metrics, and what the manual pages say of it, are made
/// of these; its value the daemon gives.
public struct StatusField: Sendable {
    typealias Samples = @Sendable (StatusValue, [(String, String)]) -> [MetricSample]

    /// Where it is, such as `store.log_bytes`; `NAME` stands for the name of a handler.
    public let name: String
    /// For people; a sentence.
    public let meaning: String
    /// `nil` for a fact that is none.
    let metric: MetricFamily?

    /// A fact that is no metric.
    init(_ name: String, _ meaning: String) {
        (self.name, self.meaning, metric) = (name, meaning, nil)
    }

    /// - Parameters:
    ///   - kind: of the metric that it is.
    ///   - metric: the metric's name, which ends in the unit, where it is not the fact's: times are in seconds there.
    ///   - label: what tells its value from others of the same metric.
    ///   - each: the label that has the names of its members; then each of them is a value.
    ///   - labels: the names of further labels.
    ///   - samples: the values, where they are not the fact itself.
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

    /// What is wrong with the daemon, as the fields of a status say that are problems: each with its name before `_problem`.
    ///
    /// - Parameter status: the daemon's answer to `op: status`; `nil`: it gave none.
    static func problems(_ status: JSONNode?) -> [LabelledFact] {
        all.compactMap { field in
            let path = field.name.split(separator: ".").map(String.init)
            guard let name = path.last, name.hasSuffix("_problem"),
                let problem = path.reduce(status, { $0?[$1] })?.string
            else { return nil }
            return LabelledFact(label: "Problem", text: "\(name.dropLast(8)): \(problem)", tone: .bad)
        }
    }

    /// All metrics of the fields, in their order; fields with the same metric give the values of one.
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

    /// A time in seconds, a problem as 1, any other number as it is.
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
