/// A fault in a send body of FCM v1. The check that finds it writes the message; each caller on the way out adds its
/// step of the path. So a valid body costs no path.
struct V1Fault: Error {
    /// The path from the checked object or value: `.message.data.badge`.
    private var path: String
    /// The path of the object with an unknown name.
    private var place: String
    private var problem: Problem

    private enum Problem {
        case unknownName(String)
        case other(String)
    }

    /// Creates a fault for an invalid value.
    ///
    /// - Parameters:
    ///   - path: the path from the checked value, such as `.badge`.
    ///   - message: the fault, for people.
    init(at path: String = "", _ message: String) {
        self.path = path
        place = ""
        problem = .other(message)
    }

    /// Creates a fault for a member with an unknown name.
    init(unknownName name: String) {
        path = ".\(name)"
        place = ""
        problem = .unknownName(name)
    }

    /// Returns the fault with its path from the enclosing value.
    ///
    /// - Parameter step: the place of the value in the enclosing one, such as `.message` or `[0]`.
    func within(_ step: String) -> V1Fault {
        var fault = self
        fault.path = step + path
        fault.place = step + place
        return fault
    }

    /// The error for the whole body, which is in `payload`.
    var payloadError: PayloadError {
        switch problem {
        case .other(let message): return PayloadError(field: "payload\(path)", message: message)
        case .unknownName(let name):
            let answer = #"Unknown name "\#(name)" at '\#(place.dropFirst())'"#
            return PayloadError(
                field: "payload\(path)", message: "FCM v1 has no field of this name: it answers \(answer)")
        }
    }
}
