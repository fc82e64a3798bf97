import Glibc

/// Everything one daemon needs, below a directory of its own: configuration, state, runtime directory and scripts.
/// It outlives the daemon: the next one goes on from its state.
public final class Installation: Sendable {
    private let directory = TemporaryDirectory()
    private let stateFolder: String

    /// The directory that holds the others; a place for a test's own files.
    public var root: String { directory.path }
    /// `--config`
    public var configuration: String { root + "/etc" }
    /// `--state`
    public var state: String { root + "/" + stateFolder }
    /// `--runtime`
    public var runtime: String { root + "/run" }
    /// Where producers connect.
    public var injectSocket: String { runtime + "/inject.sock" }
    /// Where administrators connect.
    public var controlSocket: String { runtime + "/control.sock" }

    /// Where readers connect.
    public var readSocket: String { runtime + "/read.sock" }

    /// Makes one with the shipped handler `journal`, a last route to it, and these settings.
    ///
    /// - Parameters:
    ///   - settings: the text of `pushrouterd.conf`.
    ///   - stateFolder: where the state directory is, below the root; the daemon makes it.
    public init(_ settings: String = "", stateFolder: String = "state") {
        self.stateFolder = stateFolder
        // Tests with clients of other users need a way in, whatever the umask that they are started with.
        umask(0o022)
        chmod(root, 0o711)
        for folder in ["", "/handlers.d", "/routes.d"] { mkdir(configuration + folder, 0o755) }
        write("pushrouterd.conf", settings)
        write("handlers.d/journal.handler", "[Handler]\nType=journal\n")
        addRoute("99-default", to: "journal")
    }

    /// Writes a file of the configuration.
    ///
    /// - Parameters:
    ///   - path: relative to the configuration.
    ///   - text: all of it.
    public func write(_ path: String, _ text: String) { writeFile(text, to: configuration + "/" + path) }

    /// Adds an `exec` handler that runs a script, and a route to it for payloads whose data has `job` set to its name.
    ///
    /// - Parameters:
    ///   - name: of handler, route and script.
    ///   - script: for `/bin/sh`; `$ROOT` is this installation's root.
    ///   - handler: further lines of `[Handler]`.
    ///   - route: further lines of `[Route]`.
    public func addJob(_ name: String, _ script: String, handler: String = "", route: String = "") {
        let path = "\(root)/\(name).sh"
        writeFile(script, to: path)
        addHandler(name, "Exec=/bin/sh \(path)\nEnvironment=ROOT=\(root)\n\(handler)")
        addRoute("50-\(name)", to: name, match: "Data=job \(name)", route: route)
    }

    /// Adds an `exec` handler.
    ///
    /// - Parameters:
    ///   - name: its name.
    ///   - lines: the lines of `[Handler]` but `Type=`.
    public func addHandler(_ name: String, _ lines: String) {
        write("handlers.d/\(name).handler", "[Handler]\nType=exec\n\(lines)\n")
    }

    /// Adds a route.
    ///
    /// - Parameters:
    ///   - name: its name; routes apply in the order of their names.
    ///   - handler: who does the work.
    ///   - match: the lines of `[Match]`.
    ///   - route: further lines of `[Route]`.
    public func addRoute(_ name: String, to handler: String, match: String = "", route: String = "") {
        write("routes.d/\(name).route", "[Match]\n\(match)\n[Route]\nHandler=\(handler)\n\(route)\n")
    }
}
