import TestSupport
import Testing

@testable import PushModel
@testable import PushSettings

@Suite("Any text")
struct RandomTextTests {
    /// Texts that lead deep into the parsers, and some that end them.
    private static let pieces: [String] =
        (Schema.main.keys.map { "\($0.name)=" } + Schema.handler.keys.map { "\($0.name)=" }
            + Schema.route.keys.map { "\($0.name)=" } + Schema.provider.keys.map { "\($0.name)=" }
            + Schema.track.keys.map { "\($0.name)=" } + Schema.registration.keys.map { "\($0.name)=" })
        + [
            "[Daemon]\n", "[Dispatch]\n", "[Deadline]\n", "[Handler]\n", "[Route]\n", "[Match]\n", "[UsersTrack]\n",
            "[Track]\n", "[Identifier]\n", "[Event]\n", "[Attributes]\n", "received", "a integer keyvalue:a",
            "b json \"{}\"", "email string data:e", "braze_id", "https://", "http://[::1]:8", "@", "keyvalue:", "\"x",
            "[Provider]\n", "[Android]\n", "[iOS]\n", "[Web]\n", "present k", "equals k v", "json k", "prefix g",
            "members 1",
            "[", "]", "=", "\n", "\n", "\n", "\\\n", "\\", "#", ";", "\"", "'", "%", "%%", " ", "\t", "\r\n",
            "\u{FEFF}",
            "9s", "1min 30s", "99999999999999999999", "0", ".", "-", "infinity", "256K", "yes", "no", "exec", "journal",
            "/bin/true", "\\x41", "\\777", "\\u", "\\Uffffffff", "A=b", "é", "😀", "\u{301}", "\u{0}", "none", "ios",
            "*",
            "[a", "crm",
        ]

    private func randomFile(_ path: String, using generator: inout SeededGenerator) -> ConfigurationFile {
        var bytes: [UInt8] = []
        for _ in 0..<Int.random(in: 0...40, using: &generator) {
            bytes += (Self.pieces.randomElement(using: &generator) ?? "").utf8
            if Int.random(in: 0..<200, using: &generator) == 0 {
                bytes.append(UInt8.random(in: 0...255, using: &generator))
            }
        }
        return ConfigurationFile(path: path, bytes: bytes)
    }

    @Test("gives settings or errors, each with its file and an existing line", arguments: Search.seeds(20))
    func neverTraps(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            let sources = ConfigurationSources(
                main: [randomFile("pushrouterd.conf", using: &generator), randomFile("a.conf", using: &generator)],
                providers: [
                    randomFile("braze.provider", using: &generator), randomFile("crm.provider", using: &generator),
                ],
                handlers: [
                    randomFile("crm.handler", using: &generator), randomFile("journal.handler", using: &generator),
                ],
                routes: [randomFile("a.route", using: &generator), randomFile("b.route", using: &generator)],
                tracks: [randomFile("a.track", using: &generator), randomFile("b.track", using: &generator)],
                registrations: [randomFile("a.registration", using: &generator)],
                producers: [randomFile("a.producer", using: &generator), randomFile("b.producer", using: &generator)])
            let files =
                sources.main + sources.providers + sources.handlers + sources.routes + sources.tracks
                + sources.registrations + sources.producers
            let linesOf = Dictionary(
                uniqueKeysWithValues: files.map { ($0.path, 1 + $0.bytes.count { $0 == UInt8(ascii: "\n") }) })

            let (settings, diagnostics) = Settings.load(sources)
            #expect((settings == nil) == diagnostics.contains { $0.severity == .error })
            for diagnostic in diagnostics {
                #expect(
                    ["providers.d", "routes.d", "tracks.d"].contains(diagnostic.file) || linesOf[diagnostic.file] != nil
                )
                if let line = diagnostic.line { #expect((1...(linesOf[diagnostic.file] ?? 0)).contains(line)) }
                #expect(!diagnostic.description.utf8.contains { $0 < 0x20 || $0 == 0x7F })
                #expect(diagnostic.message.utf8.count < 600)
            }
        }
    }

    @Test("with any bytes gives an error, and never traps")
    func anyBytes() {
        var generator = SeededGenerator(seed: Search.firstSeed)
        for _ in 0..<Search.cases(500) {
            let bytes = (0..<Int.random(in: 1...64, using: &generator)).map { _ in
                UInt8.random(in: 0...255, using: &generator)
            }
            let file = ConfigurationFile(path: "x.route", bytes: bytes)
            #expect(Settings.load(ConfigurationSources(routes: [file])).settings == nil)
        }
    }
}
