import Glibc
import TestSupport
import Testing

@Suite("pushctl handler-units", .timeLimit(.minutes(30)))
struct PushctlHandlerUnitsTests {
    private let installation = Installation()

    private func units(_ arguments: String...) -> Program.Result {
        pushctl.run(["handler-units", "--config", installation.configuration] + arguments)
    }

    private func text(_ name: String) -> String {
        readFile("\(installation.root)/units/\(name)").map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    @Test("writes a socket, a service and the handler's file, which systemd and verify accept")
    func files() throws {
        installation.addHandler(
            "crm",
            """
            Exec=/bin/cat "two words" $HOME 100%%
            Environment="A=b c"
            MemoryMax=64M
            Nice=5
            MaxConcurrent=9
            """)
        installation.addRoute("50-crm", to: "crm", match: "Data=crm", route: "Deadline=4s")
        mkdir("\(installation.root)/units", 0o755)
        let result = units("crm", "--directory", "\(installation.root)/units")
        #expect(result.end == .exited(0), "\(result.errors)")
        let names = ["pushrouter-crm.socket", "pushrouter-crm@.service", "crm.handler"]
        #expect(result.lines == names.map { "\(installation.root)/units/\($0)" })
        let service = text(names[1])
        #expect(service.contains("\nExecStart=/bin/cat \"two words\" \"$$HOME\" \"100%%\"\n"), "\(service)")
        let lines = [
            "Environment=\"A=b c\"", "MemoryMax=67108864", "Nice=5", "RuntimeMaxSec=5000ms", "DynamicUser=yes",
        ]
        for line in lines {
            #expect(service.contains("\n\(line)\n"), "\(line)")
        }
        #expect(text(names[0]).contains("\nMaxConnections=18\n"))
        // The new file replaces the one that it was made from.
        writeFile(text(names[2]), to: "\(installation.configuration)/handlers.d/crm.handler")
        let verify = pushctl.run(["verify", "--config", installation.configuration])
        #expect(verify.output.hasSuffix("\n0 errors, 0 warnings\n"), "\(verify.output)")
        if access("/usr/bin/systemd-analyze", X_OK) == 0 {
            let analyzed = Program(path: "/usr/bin/systemd-analyze").run(
                ["verify", "--man=no"] + names.prefix(2).map { "\(installation.root)/units/\($0)" })
            #expect(analyzed.end == .exited(0), "\(analyzed.errors)")
            #expect(!analyzed.errors.contains("pushrouter-crm"), "\(analyzed.errors)")
        } else {
            leaveUntested("systemd-analyze is not installed")
        }

        let again = units("crm", "--directory", "\(installation.root)/units")
        #expect(again.end == .exited(2), "it has no program in its file now")
    }

    @Test("prints the files without --directory, and never overwrites a file")
    func printed() {
        installation.addHandler("crm", "Exec=/bin/cat")
        let result = units("crm")
        #expect(result.output.hasPrefix("# ---- pushrouter-crm.socket\n"))
        #expect(result.output.contains("\n# ---- crm.handler\n"))
        mkdir("\(installation.root)/units", 0o755)
        #expect(units("crm", "--directory", "\(installation.root)/units").end == .exited(0))
        let second = units("crm", "--directory", "\(installation.root)/units")
        #expect(second.end == .exited(74))
        #expect(second.errors.hasSuffix("pushrouter-crm.socket: File exists; move it away first\n"))
    }

    @Test("keeps standard error, which may contain payloads, out of the journal without LogOutput=yes")
    func standardError() {
        installation.addHandler("quiet", "Exec=/bin/cat")
        installation.addHandler("open", "Exec=/bin/cat\nLogOutput=yes")
        #expect(units("quiet").output.contains("\nStandardError=null\n"))
        #expect(!units("quiet").output.contains("=journal"))
        #expect(units("open").output.contains("\nStandardError=journal\n"))
    }

    @Test("takes the program of a socket handler from --exec, and names the missing option")
    func socket() {
        installation.write("handlers.d/other.handler", "[Handler]\nType=socket\nConnect=/run/other.sock\n")
        #expect(
            units("other").errors.hasPrefix(
                "pushctl: the file of other has no program; name it with --exec COMMAND\n"))
        let result = units("other", "--exec", "/bin/other --line")
        #expect(result.output.contains("\nListenStream=/run/other.sock\n"))
        #expect(result.output.contains("\nExecStart=/bin/other --line\n"))
        #expect(result.output.contains("ExecStopPost="), "without a status in its line the exit status counts")
        #expect(units("other", "--exec", "other").end == .exited(2))
        #expect(units("journal").errors.hasPrefix("pushctl: journal is built in: it runs no program\n"))
        #expect(units("nobody").end == .exited(2))
    }
}
