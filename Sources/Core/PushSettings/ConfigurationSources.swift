public import PushModel

/// A configuration file that was read: its name for people, and its bytes.
public struct ConfigurationFile: Hashable, Sendable {
    /// The path as messages show it; the stem of its last component names what it describes.
    public var path: String
    /// The contents, unchecked.
    public var bytes: [UInt8]

    /// Joins the parts.
    public init(path: String, bytes: [UInt8]) {
        self.path = path
        self.bytes = bytes
    }

    /// The last component of the path without its extension.
    public var stem: String {
        let component = path.utf8.split(separator: UInt8(ascii: "/")).last ?? ""[...].utf8
        guard let dot = component.lastIndex(of: UInt8(ascii: ".")), dot != component.startIndex else {
            return String(Substring(component))
        }
        return String(Substring(component[..<dot]))
    }

    /// Whether the file only hides a file of the same name in a lower directory, like an empty unit file or a link to
    /// `/dev/null` in systemd.
    var isMask: Bool { bytes.isEmpty }
}

/// The files of one configuration. Of several files with the same name it has only the one that takes precedence.
public struct ConfigurationSources: Hashable, Sendable {
    /// `pushrouterd.conf`, then its drop-ins in order: the last value of a key counts.
    public var main: [ConfigurationFile]
    /// `providers.d/*.provider`, in any order; each replaces or masks the shipped file of its name.
    public var providers: [ConfigurationFile]
    /// `handlers.d/*.handler`, in any order.
    public var handlers: [ConfigurationFile]
    /// `routes.d/*.route`, in any order.
    public var routes: [ConfigurationFile]
    /// `tracks.d/*.track`, in any order.
    public var tracks: [ConfigurationFile]
    /// `registrations.d/*.registration`, in any order.
    public var registrations: [ConfigurationFile]
    /// The warnings about other files and folders, which are not read.
    public var strays: [Diagnostic] = []

    /// Joins the parts; an omitted part has its defaults.
    public init(
        main: [ConfigurationFile] = [], providers: [ConfigurationFile] = [], handlers: [ConfigurationFile] = [],
        routes: [ConfigurationFile] = [], tracks: [ConfigurationFile] = [],
        registrations: [ConfigurationFile] = []
    ) {
        self.main = main
        self.providers = providers
        self.handlers = handlers
        self.routes = routes
        self.tracks = tracks
        self.registrations = registrations
    }
}

extension [ConfigurationFile] {
    /// The files that are not masks, in order of name, which is the order of application.
    var inOrder: [ConfigurationFile] {
        filter { !$0.isMask }.map { (stem: $0.stem, file: $0) }.sorted { $0.stem < $1.stem }.map(\.file)
    }
}
