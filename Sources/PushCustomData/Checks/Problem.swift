/// What is wrong with something that was logged.
struct Problem: Error, Hashable {
    /// Where: a path such as `properties.cart[2].name`; empty: all of it.
    var field: String
    /// Which rule it breaks, and what to do.
    var reason: String

    /// - Parameter reason: what is wrong with the value itself; who knows where it is adds that.
    init(_ reason: String) {
        field = ""
        self.reason = reason
    }

    /// The same problem, seen from the object that has the value as member `key`.
    func inside(_ key: String) -> Problem {
        var problem = self
        problem.field = shortened(key) + (field.isEmpty || field.hasPrefix("[") ? "" : ".") + field
        return problem
    }

    /// The same problem, seen from the array that has the value at `index`.
    func inside(at index: Int) -> Problem {
        var problem = self
        problem.field = "[\(index)]" + (field.isEmpty || field.hasPrefix("[") ? "" : ".") + field
        return problem
    }

    /// With the place before it, for people.
    var text: String { field.isEmpty ? reason : "\(field): \(reason)" }
}

/// A name as a path shows it: one that is far too long is cut, an empty one is still seen.
private func shortened(_ name: String) -> String {
    guard !name.isEmpty else { return "\"\"" }
    let scalars = name.unicodeScalars
    return scalars.count <= 64 ? name : String(String.UnicodeScalarView(scalars.prefix(64))) + "..."
}
