import Glibc
import TestSupport
import Testing

/// The script that boots a throwaway systemd around a command, if there is one: `PUSH_TEST_BOX`.
private let box = getenv("PUSH_TEST_BOX").map { String(cString: $0) }

@Suite(
    "Under a real systemd", .enabled(if: box != nil || testsAll, "PUSH_TEST_BOX names no systemd-box"),
    .timeLimit(.minutes(30)))
struct SystemdTests {
    @Test("cgroups, users and units of handlers do what they are for")
    func handlers() throws {
        let build = Program(product: "pushrouterd").path.dropLast("/pushrouterd".count)
        let sources = #filePath.dropLast("/EndToEndTests/SystemdTests.swift".count)
        let result = Program(path: try #require(box)).run([
            "--", "/bin/bash", "\(sources)/Systemd/handlers.sh", String(build),
        ])
        #expect(result.end == .exited(0), "\(result.output)\n\(result.errors)")
        #expect(result.output.hasSuffix("ok: the daemon ends\n"))
    }
}
