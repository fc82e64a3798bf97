/// A program of ours that passes invocations on to something outside, such as a web server. It gets and answers the lines
/// that a worker gets. What it does with them only the program knows.
public struct Bridge: Hashable, Sendable {
    /// The word of `Type=`.
    public let name: String
    /// The program's socket where it is a service; `nil`: whoever runs the handler starts the program.
    public let serviceSocket: String?
    /// What the handler's file says to the program.
    public let settings: any BridgeSettings

    /// Joins the parts.
    public init(name: String, serviceSocket: String?, settings: any BridgeSettings) {
        self.name = name
        self.serviceSocket = serviceSocket
        self.settings = settings
    }

    /// The name of the program's file.
    public var program: String { "pushrouter-\(name)" }

    public static func == (left: Bridge, right: Bridge) -> Bool {
        left.name == right.name && left.serviceSocket == right.serviceSocket
            && AnyHashable(left.settings) == AnyHashable(right.settings)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(serviceSocket)
        hasher.combine(AnyHashable(settings))
    }
}

/// What the files of a bridge's handlers say to its program.
public protocol BridgeSettings: Hashable, Sendable {}
