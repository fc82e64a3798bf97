extension ConfigurationSources {
    /// What stands in where nothing is installed: the handlers and the route of `etc/pushrouterd`, so that a payload
    /// that nobody claims is in the journal. One file of configuration that is no `.provider` and no `.track`, anywhere,
    /// and this is not used.
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
