extension ConfigurationSources {
    /// The handlers and the route of `etc/pushrouterd` for a machine without installed ones, so that an unclaimed
    /// payload reaches the journal. A single configuration file other than a `.provider` or `.track`, in any directory,
    /// disables them.
    public static let shipped = ConfigurationSources(
        handlers: [
            ConfigurationFile(
                path: "(shipped) handlers.d/discard.handler", bytes: Array("[Handler]\nType=discard\n".utf8)),
            ConfigurationFile(
                path: "(shipped) handlers.d/journal.handler", bytes: Array("[Handler]\nType=journal\n".utf8)),
        ],
        routes: [
            ConfigurationFile(
                path: "(shipped) routes.d/99-default.route", bytes: Array("[Match]\n[Route]\nHandler=journal\n".utf8))
        ])
}
