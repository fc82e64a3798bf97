public import SettingsSyntax

/// A program of ours, `pushrouter-NAME`, that passes invocations on to something outside, such as a web server. It gets and
/// answers the lines that a worker gets. What it does with them only the program knows.
public struct Bridge: Hashable, Sendable {
    /// A file that the program reads.
    public struct File: Hashable, Sendable {
        /// The key of the handler's file that names it.
        public let key: String
        /// Its absolute path; of a secret also the name of a systemd credential.
        public let place: String
        /// Whether the program refuses it where others may read it.
        public let isSecret: Bool
        /// What comes of it without the file, for people: `no server would be trusted`.
        public let consequence: String

        /// Joins the parts.
        public init(key: String, place: String, isSecret: Bool = false, consequence: String) {
            self.key = key
            self.place = place
            self.isSecret = isSecret
            self.consequence = consequence
        }
    }

    /// What the program needs the network for.
    public struct Network: Hashable, Sendable {
        /// What comes of it when there is none, for people: `nothing can be posted to its URL=`.
        public let consequence: String
        /// Whether the other end is on this machine, as far as its address says so.
        public let isLocal: Bool

        /// Joins the parts.
        public init(consequence: String, isLocal: Bool) {
            self.consequence = consequence
            self.isLocal = isLocal
        }
    }

    /// What the handler's file says to the program.
    public let settings: any BridgeSettings
    /// The program's socket where it is a service; `nil`: whoever runs the handler starts the program.
    public let serviceSocket: String?

    /// Joins the parts.
    public init(_ settings: any BridgeSettings, serviceSocket: String? = nil) {
        self.settings = settings
        self.serviceSocket = serviceSocket
    }

    /// What is the same for all handlers of the bridge.
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

/// A bridge as its module declares it: what a handler's file may say to its program, and what the program needs. A value is
/// what one file says.
public protocol BridgeSettings: Fillable, Hashable, Sendable where Kind == Never {
    /// The word of `Type=`.
    static var name: String { get }
    /// What the bridge does, for people; reads on after its name: `posts to a web server`.
    static var purpose: String { get }
    /// The keys of `[Handler]` that only its handlers have.
    static var keys: [Key<Self>] { get }
    /// The key of `[Daemon]` that names the program's socket where it is a service; `nil`: it is never one.
    static var socketKey: (name: String, meaning: String)? { get }
    /// The variables that the program has from whoever starts it.
    static var environment: [String] { get }
    /// Whether a line of the program with a member `op` is a request of the daemon's own, as on `inject.sock`; else it
    /// answers nothing. It is for a program whose outside is trusted as producers are.
    static var sendsRequests: Bool { get }

    /// Checks a file whose keys are right, each for itself.
    ///
    /// - Parameters:
    ///   - lines: where each key was given.
    ///   - report: takes what is wrong.
    /// - Returns: whether there is all that a handler needs.
    func isComplete(lines: [String: Int], report: inout FileReport) -> Bool
    /// The files that the program reads for it.
    var files: [Bridge.File] { get }
    /// What the program needs the network for; `nil`: it needs none.
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
