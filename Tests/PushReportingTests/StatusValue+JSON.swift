@testable import PushModel
@testable import PushViews

extension StatusValue {
    /// Reads a status value from JSON; a histogram is an object with its bounds and the durations added to it.
    init(withHistograms node: JSONNode) {
        if let bounds = node["bounds_us"]?.elements {
            var histogram = DurationHistogram(bounds: bounds.map { .microseconds($0.int64 ?? 0) })
            for added in node["added_us"]?.elements ?? [] { histogram.add(.microseconds(added.int64 ?? 0)) }
            self = .histogram(histogram)
        } else if node.kind == .object {
            self = .object(node.members.map { (name: $0.key, value: StatusValue(withHistograms: $0.value)) })
        } else {
            self.init(node)
        }
    }
}
