public import PushModel

/// One entry of custom data that a handler's answer brings. What it does not say of the app and the device is the
/// delivery's; a user it has only if it names one.
public struct LoggedByHandler: Hashable, Sendable {
    /// What it says, as `op: log` would.
    public var request: LogRequest

    /// - Parameter request: what it says; its object is the element of the answer, and all the rest is read from that.
    public init(_ request: LogRequest) { self.request = request }

    public static func == (left: LoggedByHandler, right: LoggedByHandler) -> Bool {
        left.request.object.rawBytes == right.request.object.rawBytes
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(request.object.rawBytes) }
}
