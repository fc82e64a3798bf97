public import SettingsSyntax

/// A program of this package, `pushrouter-NAME`, that passes invocations on to something outside, such as a web server.
/// The program reads and answers the same lines as a worker. Only the program knows what it does with them.
public struct Bridge: Hashable, Sendable {
    /// A file that the program reads.
    public struct File: Hashable, Sendable {
        /// The key of the handler's file that names the file.
        public let key: String
        /// The absolute path of the file; for a secret also the name of a systemd credential.
        public let place: String
        /// Whether the program refuses the file if other users may read it.
        public let isSecret: Bool
        /// The consequence of a missing file, for people: `no server would be trusted`.
        public let consequence: String

        /// Joins the parts.
        public init(key: String, place: String, isSecret: Bool = false, consequence: String) {
            self.key = key
            self.place = place
            self.isSecret = isSecret
            self.consequence = consequence
        }
    }

    /// The program's use of the network.
    public struct Network: Hashable, Sendable {
        /// The consequence of a missing network, for people: `nothing can be posted to its URL=`.
        public let consequence: String
        /// Whether the other end is on this machine, judged by its address.
        public let isLocal: Bool

        /// Joins the parts.
        public init(consequence: String, isLocal: Bool) {
            self.consequence = consequence
            self.isLocal = isLocal
        }
    }

    /// The settings in the handler's file for the program.
    public let settings: any BridgeSettings
    /// The socket of a program that runs as a service; `nil`: the daemon, or `pushctl run-handler`, starts the program.
    public let serviceSocket: String?

    /// Joins the parts.
    public init(_ settings: any BridgeSettings, serviceSocket: String? = nil) {
        self.settings = settings
        self.serviceSocket = serviceSocket
    }

    /// The declaration that all handlers of the bridge share.
    public var declaration: any BridgeSettings.Type { type(of: settings) }

    /// The name of the program's file.
    public var program: String { "pushrouter-\(declaration.name)" }

    public static func == (left: Bridge, right: Bridge) -> Bool {
        left.serviceSocket == right.serviceSocket && left.settings.isEqual(to: right.settings)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(serviceSocket)
        hasher.combine(settings)
    }
}

/// The declaration of a bridge by its module: the keys of a handler's file for its program, and the files and network
/// that the program needs. A value holds the settings of one file.
public protocol BridgeSettings: Fillable, Hashable, Sendable where Kind == Never {
    /// The word of `Type=`.
    static var name: String { get }
    /// The bridge's action, for people, as a predicate after its name: `posts to a web server`.
    static var purpose: String { get }
    /// The keys of `[Handler]` that only handlers of this bridge have.
    static var keys: [Key<Self>] { get }
    /// The key of `[Daemon]` that names the program's socket if it is a service; `nil`: it never is.
    static var socketKey: (name: String, meaning: String)? { get }
    /// The environment variables that the program gets from the process that starts it.
    static var environment: [String] { get }
    /// Whether the daemon accepts a line of the program with a member `op` as a request, as on `inject.sock`. If not,
    /// such a line answers nothing. Only for a program whose outside is trusted as producers are.
    static var sendsRequests: Bool { get }

    /// Checks a file each of whose keys is valid.
    ///
    /// - Parameters:
    ///   - lines: the line of each key.
    ///   - report: takes the errors.
    /// - Returns: whether the file has all that a handler needs.
    func isComplete(lines: [String: Int], report: inout FileReport) -> Bool
    /// The files that the program reads for a handler.
    var files: [Bridge.File] { get }
    /// The program's use of the network; `nil`: it needs none.
    var network: Bridge.Network? { get }
}

extension BridgeSettings {
    public static var keys: [Key<Self>] { [] }
    public static var socketKey: (name: String, meaning: String)? { nil }
    public static var environment: [String] { [] }
    public static var sendsRequests: Bool { false }
    public func isComplete(lines: [String: Int], report: inout FileReport) -> Bool { true }
    public var files: [Bridge.File] { [] }
    public var network: Bridge.Network? { nil }

    fileprivate func isEqual(to other: any BridgeSettings) -> Bool { other as? Self == self }
}
