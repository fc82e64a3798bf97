import Glibc

/// The directories of a daemon below a root of their own: configuration, state, runtime directory and scripts. The
/// installation outlives the daemon, and the next daemon continues with its state.
public final class Installation: Sendable {
    private let directory = TemporaryDirectory()
    private let stateFolder: String

    /// The root directory; a place for a test's own files.
    public var root: String { directory.path }
    /// `--config`
    public var configuration: String { root + "/etc" }
    /// `--state`
    public var state: String { root + "/" + stateFolder }
    /// `--runtime`
    public var runtime: String { root + "/run" }
    /// The socket for producers.
    public var injectSocket: String { runtime + "/inject.sock" }
    /// The socket for administrators.
    public var controlSocket: String { runtime + "/control.sock" }

    /// The socket for readers.
    public var readSocket: String { runtime + "/read.sock" }

    /// Makes an installation with the shipped handler `journal`, a last route to it, and these settings.
    ///
    /// - Parameters:
    ///   - settings: the text of `pushrouterd.conf`.
    ///   - stateFolder: the state directory below the root; the daemon creates it.
    public init(_ settings: String = "", stateFolder: String = "state") {
        self.stateFolder = stateFolder
        // Test clients of other users must be able to enter, regardless of the inherited umask.
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
    ///   - text: the whole contents.
    public func write(_ path: String, _ text: String) { writeFile(text, to: configuration + "/" + path) }

    /// Adds an `exec` handler that runs a script, with a route for payloads whose data has `job` set to the handler's
    /// name.
    ///
    /// - Parameters:
    ///   - name: the name of handler, route and script.
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
    ///   - lines: the lines of `[Handler]` except `Type=`.
    public func addHandler(_ name: String, _ lines: String) {
        write("handlers.d/\(name).handler", "[Handler]\nType=exec\n\(lines)\n")
    }

    /// Adds a route.
    ///
    /// - Parameters:
    ///   - name: its name; routes apply in the order of their names.
    ///   - handler: the name of the handler.
    ///   - match: the lines of `[Match]`.
    ///   - route: further lines of `[Route]`.
    public func addRoute(_ name: String, to handler: String, match: String = "", route: String = "") {
        write("routes.d/\(name).route", "[Match]\n\(match)\n[Route]\nHandler=\(handler)\n\(route)\n")
    }
}
