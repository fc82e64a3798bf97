import HTTPClient
import LinuxSystem
import PushModel
import PushRouter
import PushSettings

/// The directories of the configuration, which is read at the start and at each reload.
struct Configuration {
    var directories: [String]
    /// Whether the command line named the directory, so that it must exist.
    var isRequired: Bool
    /// `$CREDENTIALS_DIRECTORY`, in which systemd puts the service's credentials.
    var credentials: String?

    /// Reads and validates the main file.
    ///
    /// - Throws: a line for each error.
    func load() throws(StartFailure) -> ForwardingSettings {
        // A mistake in a handler or a route must not keep entries from being sent.
        try LoadedConfiguration(reading: directories, required: isRequired, mainOnly: true).settings.usersTrack
    }

    /// Makes the destination of requests; reads the key again.
    ///
    /// - Parameters:
    ///   - settings: the configuration.
    ///   - isCheck: whether a credential is not read: systemd hides it from the command of a reload.
    /// - Throws: `StartFailure` with the missing or wrong setting and the remedy.
    func destination(
        _ settings: ForwardingSettings, isCheck: Bool = false
    ) throws(StartFailure) -> HTTPDestination {
        guard let endpoint = settings.endpoint else {
            throw StartFailure(
                "Endpoint= in [UsersTrack] is not set: there is nothing to send to; set it to the REST endpoint of your "
                    + "instance, such as https://rest.fra-01.braze.eu", exitStatus: StartFailure.configuration)
        }
        return HTTPDestination(
            url: endpoint, headers: Self.headers,
            bearer: isCheck && settings.keyFile == nil ? nil : try apiKey(settings),
            timeoutMilliseconds: Int(settings.timeout.milliseconds), wantedHeaders: ["x-ratelimit-reset"])
    }

    /// The headers of a request, without the key's.
    static let headers = [
        "Content-Type: application/json", "Accept: application/json",
        "User-Agent: pushrouter-forward/\(pushrouterdVersion)",
    ]

    private func apiKey(_ settings: ForwardingSettings) throws(StartFailure) -> Secret {
        if let path = settings.keyFile { return try APIKey.read(path, isPrivate: true) }
        guard let credentials else {
            throw StartFailure(
                "there is no API key: name its file with KeyFile= in [UsersTrack], or give the service the systemd "
                    + "credential users-track-key (LoadCredential=)", exitStatus: StartFailure.configuration)
        }
        return try APIKey.read(credentials + "/users-track-key", isPrivate: false)
    }
}
