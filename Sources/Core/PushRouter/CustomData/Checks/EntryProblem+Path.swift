import PushModel

extension EntryProblem {
    /// The same problem, seen from the object that has the value as member `key`.
    func inside(_ key: String) -> EntryProblem {
        var problem = self
        problem.field = shortened(key) + (field.isEmpty || field.hasPrefix("[") ? "" : ".") + field
        return problem
    }

    /// The same problem, seen from the array that has the value at `index`.
    func inside(at index: Int) -> EntryProblem {
        var problem = self
        problem.field = "[\(index)]" + (field.isEmpty || field.hasPrefix("[") ? "" : ".") + field
        return problem
    }
}

/// Returns a name as a path shows it: cut to 64 scalars, and quoted if it is empty or has a control character or one of
/// `.:[]"\`.
private func shortened(_ name: String) -> String {
    let scalars = name.unicodeScalars
    let rest = scalars.count <= 64 ? "" : "..."
    let start = rest.isEmpty ? name : String(String.UnicodeScalarView(scalars.prefix(64)))
    guard name.isEmpty || start.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F || ".:[]\"\\".utf8.contains($0) }) else {
        return start + rest
    }
    var writer = JSONWriter()
    writer.string(start)
    return String(decoding: writer.bytes, as: UTF8.self) + rest
}
