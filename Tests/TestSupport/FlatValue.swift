import PushModel

/// The parts of a value, one a line with their path: `.target.app shop`.
///
/// Two values differ in a line for each part that differs. Members of sets and dictionaries are in order, so that the
/// lines are the same in each run.
public func flatLines(of value: Any, _ path: String = "") -> [String] {
    if let node = value as? JSONNode { return ["\(path) \(String(decoding: node.compactBytes, as: UTF8.self))"] }
    if let time = value as? WallTime { return ["\(path) \(time.rfc3339)"] }
    if let bytes = value as? [UInt8] { return ["\(path) \(String(decoding: bytes, as: UTF8.self))"] }
    let mirror = Mirror(reflecting: value)
    switch mirror.displayStyle {
    case .optional: return mirror.children.first.map { flatLines(of: $0.value, path) } ?? ["\(path) nil"]
    case .set: return ["\(path) {\(mirror.children.map { "\($0.value)" }.sorted().joined(separator: ", "))}"]
    case .dictionary: return mirror.children.flatMap { flatLines(of: $0.value, path) }.sorted()
    case .collection:
        return ["\(path) \(mirror.children.count) elements"]
            + mirror.children.enumerated().flatMap { flatLines(of: $0.element.value, "\(path)[\($0.offset)]") }
    default: break
    }
    guard !mirror.children.isEmpty else { return ["\(path) \(value)"] }
    let own = (mirror.superclassMirror?.children).map(Array.init) ?? []
    return (own + mirror.children).flatMap { flatLines(of: $0.value, "\(path).\($0.label ?? "-")") }
}

/// The parts of a value that another has otherwise, in one line.
public func flatDifference(from other: Any, to value: Any) -> String {
    let before = Set(flatLines(of: other))
    return flatLines(of: value).filter { !before.contains($0) }.joined(separator: "; ")
}
