import Testing

@testable import PushModel
@testable import PushSettings

@Suite("Two files of one name")
struct DuplicateNamesTests {
    private static let files: [(folder: String, kind: String, text: String)] = [
        ("providers", "provider", "[Android]\nAll=present k\n"), ("handlers", "handler", "[Handler]\nType=journal\n"),
        ("routes", "route", "[Route]\nHandler=x\n"), ("registrations", "registration", "[Registration]\nToken=a\n"),
        ("producers", "producer", "[Match]\nUser=1\n"),
        (
            "tracks", "track",
            "[Track]\nOn=opened\n[Identifier]\nKeyValue=braze_id\n[Event]\nName=x\n"
        ),
    ]

    @Test("in different directories are an error, of each kind of file", arguments: files.map(\.kind))
    func duplicates(kind: String) throws {
        let file = try #require(Self.files.first { $0.kind == kind })
        var sources = ConfigurationSources()
        let both = ["a", "b"].map { ConfigurationFile("\($0)/x.\(kind)", file.text) }
        switch kind {
        case "provider": sources.providers += both
        case "handler": sources.handlers += both
        case "route": sources.routes += both
        case "registration": sources.registrations += both
        case "producer": sources.producers += both
        default: sources.tracks += both
        }
        let found = Settings.load(sources).diagnostics.map(\.description).filter { $0.contains("another") }
        #expect(found == ["b/x.\(kind): error: there is another \(kind) named x; names must differ"])
    }
}
