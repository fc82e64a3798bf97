@testable import PushModel
@testable import PushViews

extension StatusValue {
    /// Reads a status value from JSON; a histogram is an object with its bounds and the durations added to it.
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
