import PushModel
import PushReporting

extension StatusValue {
    /// What a status says in JSON; a histogram is written by its bounds and what was added to it.
    init(_ node: JSONNode) {
        if let bounds = node["bounds_us"]?.elements {
            var histogram = DurationHistogram(bounds: bounds.map { .microseconds($0.int64 ?? 0) })
            for added in node["added_us"]?.elements ?? [] { histogram.add(.microseconds(added.int64 ?? 0)) }
            self = .histogram(histogram)
            return
        }
        self =
            switch node.kind {
            case .object: .object(node.members.map { (name: $0.key, value: StatusValue($0.value)) })
            case .array: .list(node.elements.map(StatusValue.init))
            case .string: .text(node.string ?? "")
            case .number: .integer(node.int64 ?? 0)
            case .bool: .flag(node.bool == true)
            case .null: .null
            }
    }
}
