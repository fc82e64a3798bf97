/// What is wrong in a send body of FCM v1. It is worded where it is noticed, and learns where that is on its way out: a
/// body that is right costs no path.
struct V1Fault: Error {
    /// Where, from the object or value that was checked: `.message.data.badge`.
    private var path: String
    /// The object in which a name is not known, likewise.
    private var place: String
    private var problem: Problem

    private enum Problem {
        case unknownName(String)
        case other(String)
    }

    /// A value is not what it has to be.
    ///
    /// - Parameters:
    ///   - path: where in what is checked, such as `.badge`.
    ///   - message: what is wrong, for people.
    init(at path: String = "", _ message: String) {
        self.path = path
        place = ""
        problem = .other(message)
    }

    /// An object has a member of a name that is not known.
    init(unknownName name: String) {
        path = ".\(name)"
        place = ""
        problem = .unknownName(name)
    }

    /// The same, seen from the value around it.
    ///
    /// - Parameter step: where the value is in that, such as `.message` or `[0]`.
    func within(_ step: String) -> V1Fault {
        var fault = self
        fault.path = step + path
        fault.place = step + place
        return fault
    }

    /// The error for the whole body, which stands in `payload`.
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
