import Glibc
import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushModel

@Suite("A handler's program that the service hides", .needsRoot)
struct ConcealedProgramTests {
    private let installation = Installation()
    /// Covers the home directories, as ProtectHome=tmpfs does.
    private static let wrapper = [
        "/usr/bin/unshare", "--mount", "--propagation=private", "/bin/sh", "-c",
        #"mount -t tmpfs -o ro tmpfs /home && exec "$0" "$@""#,
    ]

    @Test("behind a symbolic link is an error of a reload, and the reason of a failed run")
    func link() throws {
        let link = installation.root + "/zlink"
        try #require(symlink("/home/nobody/handler", link) == 0)
        installation.addHandler("job", "Exec=\(link)\n")
        installation.addRoute("50-job", to: "job", match: "Data=job job")
        let daemon = try DaemonProcess.ready(installation, through: Self.wrapper)
        let hidden = "the service does not see /home (ProtectHome=)"
        let reply = try Client(path: installation.controlSocket).ask(#"{"op":"reload"}"#)
        #expect(reply["reloaded"]?.bool == false && reply["problem"]?.string?.contains(hidden) == true, "\(reply)")
        let outcome = try installation.injectClient().outcome(of: Requests.deliver(job: "job"))
        #expect(outcome.outcome == "failed" && outcome["reason"]?.string?.contains(hidden) == true, "\(outcome)")
        withExtendedLifetime(daemon) {}
    }
}
