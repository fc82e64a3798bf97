import TestSupport
import Testing

@Suite("Under a real systemd", .timeLimit(.minutes(30)))
struct SystemdTests {
    @Test("cgroups, users and units of handlers work as intended")
    func handlers() throws {
        let build = Program(product: "pushrouterd").path.dropLast("/pushrouterd".count)
        let result = Program(path: "/bin/bash").run([
            packageRoot + "/Tests/Package/box.sh", "/bin/bash", packageRoot + "/Tests/Systemd/handlers.sh",
            String(build),
        ])
        if result.end == .exited(77) { try cancelTest(result.errors) }
        #expect(result.end == .exited(0), "\(result.output)\n\(result.errors)")
        #expect(result.output.hasSuffix("ok: the daemon ends\n"))
    }
}
