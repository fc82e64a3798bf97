package import PushModel

/// One entry of custom data that a handler's answer brings. What it does not say of the app and the device is the
/// delivery's; a user it has only if it names one.
package struct LoggedByHandler: Hashable, Sendable {
    /// What it says, as `op: log` would.
    package var request: LogRequest

    /// - Parameter request: what it says; its object is the element of the answer, and all the rest is read from that.
    package init(_ request: LogRequest) { self.request = request }

    package static func == (left: LoggedByHandler, right: LoggedByHandler) -> Bool {
        left.request.object.rawBytes == right.request.object.rawBytes
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(request.object.rawBytes) }
}
