@testable import PushModel
@testable import PushSettings

/// Loads a configuration with the handler `journal`, a route of everything to it, and the files of the test.
func load(
    main: String = "", providers: [String: String] = [:], handlers: [String: String] = [:],
    routes: [String: String] = [:], tracks: [String: String] = [:], registrations: [String: String] = [:],
    producers: [String: String] = [:]
) -> (settings: Settings?, diagnostics: [String]) {
    let handlers = handlers.merging(["journal": "[Handler]\nType=journal"]) { mine, _ in mine }
    let routes = routes.merging(["99-default": "[Route]\nHandler=journal"]) { mine, _ in mine }
    let loaded = Settings.load(
        ConfigurationSources(
            main: [ConfigurationFile("pushrouterd.conf", main)],
            providers: providers.map { ConfigurationFile("providers.d/\($0.key).provider", $0.value) },
            handlers: handlers.map { ConfigurationFile("handlers.d/\($0.key).handler", $0.value) },
            routes: routes.map { ConfigurationFile("routes.d/\($0.key).route", $0.value) },
            tracks: tracks.map { ConfigurationFile("tracks.d/\($0.key).track", $0.value) },
            registrations: registrations.map {
                ConfigurationFile("registrations.d/\($0.key).registration", $0.value)
            },
            producers: producers.map { ConfigurationFile("producers.d/\($0.key).producer", $0.value) }))
    return (loaded.settings, loaded.diagnostics.map(\.description))
}

/// Loads a main file with one line in `[section]`.
func main(_ section: String, _ line: String) -> (settings: Settings?, diagnostics: [String]) {
    load(main: "[\(section)]\n\(line)\n")
}

/// Loads a handler file `crm` with these lines in `[Handler]`, and a route that uses it.
func handler(_ lines: String) -> (settings: Settings?, diagnostics: [String]) {
    load(handlers: ["crm": "[Handler]\n\(lines)"], routes: ["20-crm": "[Match]\nApp=crm\n[Route]\nHandler=crm"])
}

/// Loads a route file `20-x` with these lines.
func route(_ lines: String) -> (settings: Settings?, diagnostics: [String]) {
    load(routes: ["20-x": lines])
}

/// Loads a registration file `20-x` with these lines.
func registration(_ lines: String) -> (settings: Settings?, diagnostics: [String]) {
    load(registrations: ["20-x": lines])
}

/// Loads a producer file `20-x` with these lines.
func producer(_ lines: String) -> (settings: Settings?, diagnostics: [String]) {
    load(producers: ["20-x": lines])
}

/// Loads a track file `20-x` with these lines, and a main file with an endpoint.
func track(_ lines: String) -> (settings: Settings?, diagnostics: [String]) {
    load(main: "[UsersTrack]\nEndpoint=https://rest.braze.eu", tracks: ["20-x": lines])
}

extension ConfigurationFile {
    init(_ path: String, _ text: String) { self.init(path: path, bytes: Array(text.utf8)) }
}
