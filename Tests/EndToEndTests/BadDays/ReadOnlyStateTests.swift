import Glibc
import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushModel

@Suite("A state directory that may not be written")
struct ReadOnlyStateTests {
    @Test(
        "because its disk is mounted read-only ends the start with 74 and a remedy; reports still work",
        .needsRoot)
    func readOnly() throws {
        let installation = Installation()
        mkdir(installation.state, 0o700)
        try #require(mount("tmpfs", installation.state, "tmpfs", 0, "size=32m,mode=700") == 0, "cannot mount")
        defer { umount2(installation.state, Int32(MNT_DETACH)) }
        let first = try DaemonProcess.ready(installation)
        #expect(try installation.injectClient().ask(Requests.deliver(waits: false)).seq == 1)
        first.crash()
        let readOnly = UInt(MS_REMOUNT | MS_RDONLY)
        try #require(mount("tmpfs", installation.state, "tmpfs", readOnly, nil) == 0, "cannot mount read-only")

        let daemon = DaemonProcess(installation)
        #expect(try daemon.waitForEnd() == .exited(74))
        let errors = daemon.standardError
        #expect(errors.contains("Read-only file system") && errors.contains("mount -o remount,rw"), "\(errors)")
        let report = pushctl.run(["--state", installation.state, "--runtime", installation.runtime, "report", "--json"])
        #expect(try json(report.output)["accepted"]?.int64 == 1, "\(report.errors)")

        let writable = UInt(MS_REMOUNT)
        try #require(mount("tmpfs", installation.state, "tmpfs", writable, nil) == 0, "cannot mount for writing")
        let next = try DaemonProcess.ready(installation)
        #expect(try installation.injectClient().ask(Requests.deliver(waits: false)).seq == 2)
        #expect(try next.stop() == .exited(0))
    }

    /// Starts the daemon as another user and returns its end and its errors.
    private func failure(_ installation: Installation, as user: Int) throws -> (end: Program.End, errors: String) {
        let wrapper = ["/usr/bin/setpriv", "--reuid=\(user)", "--regid=\(user)", "--clear-groups"]
        let daemon = DaemonProcess(installation, through: wrapper)
        return (try daemon.waitForEnd(), daemon.standardError)
    }

    @Test(
        "and other missing permissions: each is named with its remedy",
        .needsRoot)
    func permissions() throws {
        let installation = Installation()
        let user = 65_534
        for directory in [installation.state, installation.runtime] {
            mkdir(directory, 0o700)
            chown(directory, uid_t(user), gid_t(user))
        }
        let file = installation.configuration + "/pushrouterd.conf"
        chmod(file, 0o600)
        let configuration = try failure(installation, as: user)
        #expect(configuration.end == .exited(78))
        #expect(
            configuration.errors.contains("\(file): Permission denied; let user 65534 read it"),
            "\(configuration.errors)")
        chmod(file, 0o644)

        chown(installation.runtime, 0, 0)
        let runtime = try failure(installation, as: user)
        #expect(runtime.end == .exited(73))
        #expect(runtime.errors.contains("must be writable for this user, 65534"), "\(runtime.errors)")

        chown(installation.state, 0, 0)
        let state = try failure(installation, as: user)
        #expect(state.end == .exited(74))
        #expect(state.errors.contains("belongs to user 0, and this is user 65534"), "\(state.errors)")
    }
}
