import PushModel

/// An undeliverable payload: the platform's own server would refuse it, or its form is unreadable.
public struct PayloadError: Error, Hashable, Sendable {
    /// The path of the fault in the request: `payload.message.data.badge`.
    public var field: String
    /// The fault, for people.
    public var message: String
}

extension JSONView {
    /// Returns the value, which must be an object; `field` is its path.
    func requiringObject(_ field: @autoclosure () -> String) throws(PayloadError) -> JSONView {
        guard kind == .object else {
            throw PayloadError(field: field(), message: "this has to be an object; it is \(kind.name)")
        }
        return self
    }

    /// Returns the text of the value, which must be a string; `field` is its path.
    func requiringString(_ field: @autoclosure () -> String) throws(PayloadError) -> String {
        guard let string else {
            throw PayloadError(field: field(), message: "this has to be a string; it is \(kind.name)")
        }
        return string
    }
}
