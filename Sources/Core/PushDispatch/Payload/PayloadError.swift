import PushModel

/// A payload that cannot be delivered: the platform's own server would refuse it, or its form cannot be read.
public struct PayloadError: Error, Hashable, Sendable {
    /// Where, as a path from the request: `payload.message.data.badge`.
    public var field: String
    /// What is wrong there, for people.
    public var message: String

    /// Names the place and what is wrong there.
    public init(field: String, message: String) {
        self.field = field
        self.message = message
    }
}

extension JSONView {
    /// The value itself, which has to be an object; `field` says where it stands.
    func requiringObject(_ field: @autoclosure () -> String) throws(PayloadError) -> JSONView {
        guard kind == .object else {
            throw PayloadError(field: field(), message: "this has to be an object; it is \(kind.name)")
        }
        return self
    }

    /// The text of the value, which has to be a string; `field` says where it stands.
    func requiringString(_ field: @autoclosure () -> String) throws(PayloadError) -> String {
        guard let string else {
            throw PayloadError(field: field(), message: "this has to be a string; it is \(kind.name)")
        }
        return string
    }
}
