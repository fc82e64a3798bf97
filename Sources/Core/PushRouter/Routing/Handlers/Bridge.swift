public import PushModel

/// A program of this project, `pushrouter-NAME`, that forwards invocations to an outside service, such as a web server.
/// It reads and writes the same lines as a worker. Only the program knows how it forwards them.
public struct Bridge: Hashable, Sendable {
    /// A file that the program reads.
    public struct File: Hashable, Sendable {
        /// The key of the handler's file that names this file.
        public let key: String
        /// The absolute path of the file; a secret may also be the name of a systemd credential.
        public let place: String
        /// Whether the program refuses the file if other users may read it.
        public let isSecret: Bool
        /// The effect of a missing file, for people: `no server would be trusted`.
        public let consequence: String

        /// Joins the parts.
        public init(key: String, place: String, isSecret: Bool = false, consequence: String) {
            self.key = key
            self.place = place
            self.isSecret = isSecret
            self.consequence = consequence
        }
    }

    /// The program's need for the network.
    public struct Network: Hashable, Sendable {
        /// The effect of a missing network, for people: `nothing can be posted to its URL=`.
        public let consequence: String
        /// Whether the address of the remote end is one of this machine.
        public let isLocal: Bool

        /// Joins the parts.
        public init(consequence: String, isLocal: Bool) {
            self.consequence = consequence
            self.isLocal = isLocal
        }
    }

    /// The settings that the handler's file gives the program.
    public let settings: any BridgeSettings
    /// The program's socket if the program runs as a service; `nil`: the daemon or pushctl starts the program.
    public let serviceSocket: String?

    /// Joins the parts.
    public init(_ settings: any BridgeSettings, serviceSocket: String? = nil) {
        self.settings = settings
        self.serviceSocket = serviceSocket
    }

    /// The settings type, which is the same for all handlers of the bridge.
    public var declaration: any BridgeSettings.Type { type(of: settings) }

    /// The file name of the program.
    public var program: String { "pushrouter-\(declaration.name)" }

    public static func == (left: Bridge, right: Bridge) -> Bool {
        left.serviceSocket == right.serviceSocket && left.settings.isEqual(to: right.settings)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(serviceSocket)
        hasher.combine(settings)
    }
}

/// The declaration of a bridge by its module: the keys that a handler's file may have, and the resources that the
/// program needs. A value holds the settings of one handler's file.
public protocol BridgeSettings: Fillable, Hashable, Sendable where Kind == Never {
    /// The word of `Type=`.
    static var name: String { get }
    /// A phrase for people that follows the bridge's name: `posts to a web server`.
    static var purpose: String { get }
    /// The keys of `[Handler]` that only handlers of this bridge have.
    static var keys: [Key<Self>] { get }
    /// The key of `[Daemon]` that names the program's socket; `nil`: the program never runs as a service.
    static var socketKey: (name: String, meaning: String)? { get }
    /// The environment variables that the program inherits from the process that starts it.
    static var environment: [String] { get }
    /// Whether a line of the program with a member `op` is a request to the daemon, as on `inject.sock`. If false, such
    /// a line answers no invocation. True only for a program whose remote peers are trusted like producers.
    static var sendsRequests: Bool { get }

    /// Checks the settings of a file whose keys are each valid.
    ///
    /// - Parameters:
    ///   - lines: the line of each key.
    ///   - report: receives the faults.
    /// - Returns: whether the file has all settings that a handler needs.
    func isComplete(lines: [String: Int], report: inout FileReport) -> Bool
    /// The files that the program reads for this handler.
    var files: [Bridge.File] { get }
    /// The program's need for the network; `nil`: it needs none.
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
