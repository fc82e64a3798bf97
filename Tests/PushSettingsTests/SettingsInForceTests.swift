import Testing

@testable import PushModel
@testable import PushSettings

@Suite("The settings in force")
struct SettingsInForceTests {
    private func file(_ path: String, _ text: String) -> ConfigurationFile {
        ConfigurationFile(path: path, bytes: Array(text.utf8))
    }

    /// The settings of a key, as "value place".
    private func shown(_ key: String, _ sources: ConfigurationSources, in name: String = "pushrouterd.conf") -> [String]
    {
        sources.settingsInForce(hasProviders: false).filter { $0.name == name }.flatMap(\.settings)
            .filter { $0.key == key }
            .map { "\($0.value ?? "hidden") \($0.place.map { "\($0.file):\($0.line)" } ?? "default")" }
    }

    @Test("have every key of the main file once, with its default or with the file and line that set it last")
    func mainFile() {
        let sources = ConfigurationSources(main: [
            file("p.conf", "[Store]\nRetention=9d\nMaxSize=2G\n"),
            file("p.conf.d/1.conf", "[Store]\n\nRetention=7d\nMaxSize=\n"),
        ])
        #expect(shown("Retention", sources) == ["7d p.conf.d/1.conf:3"])
        let maxSize = Schema.main.keys.first { $0.name == "MaxSize" }
        #expect(shown("MaxSize", sources) == ["\(maxSize?.standard ?? "?") default"], "an empty value is the default")
        #expect(shown("HandlersMax", sources).first?.hasSuffix(" default") == true)
        let names = sources.settingsInForce(hasProviders: false)[0].settings.map { "\($0.section).\($0.key)" }
        #expect(names == Schema.main.keys.map { "\($0.section).\($0.name)" })
    }

    @Test("have of a handler the keys of its type, and each line of a key whose values add up")
    func handlers() throws {
        let text =
            "[Handler]\nType=http\nURL=https://crm.example/hush\nHeader=A: hush\nHeader=B: hush\n"
            + "SecretFile=/etc/push/crm.secret\n"
        let sources = ConfigurationSources(handlers: [
            file("h/crm.handler", text), file("h/sh.handler", "[Handler]\nType=exec\nExec=/bin/true\n"),
        ])
        #expect(shown("Type", sources, in: "h/crm.handler") == ["http h/crm.handler:2"])
        #expect(shown("Header", sources, in: "h/crm.handler") == ["hidden h/crm.handler:4", "hidden h/crm.handler:5"])
        #expect(shown("URL", sources, in: "h/crm.handler") == ["hidden h/crm.handler:3"])
        #expect(shown("SecretFile", sources, in: "h/crm.handler") == ["/etc/push/crm.secret h/crm.handler:6"])
        #expect(shown("Exec", sources, in: "h/sh.handler") == ["/bin/true h/sh.handler:3"])
        #expect(shown("AppName", sources, in: "h/sh.handler") == [], "that is of notify")
        #expect(shown("AppName", sources, in: "h/crm.handler") == [])
    }

    @Test("no message repeats the value of a key that names or has a secret")
    func secrets() {
        let value = "hush hush, not a path"
        var count = 0
        func check<Target>(_ schema: Schema<Target>) {
            let words = ["Token", "Secret", "Bearer", "KeyFile", "Credentials", "Endpoint", "Log", "URL", "Header"]
            for key in schema.keys where words.contains(where: { key.name == $0 || key.name == "\($0)File" }) {
                count += 1
                var (target, report) = (Target(), FileReport(file: "f"))
                let text = "[\(key.section)]\n\(key.name)=\(value)\n"
                _ = schema.read(Array(text.utf8), into: &target, report: &report)
                #expect(report.diagnostics.count == 1, "\(key.name)")
                #expect(!report.diagnostics.contains { $0.message.contains("hush") }, "\(key.name)")
            }
        }
        check(Schema.main)
        check(Schema.handler)
        #expect(count == 7)
    }
}
