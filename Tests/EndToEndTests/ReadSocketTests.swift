import Glibc
import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushModel

@Suite("The socket of readers")
struct ReadSocketTests {
    private let installation = Installation("[Daemon]\nReadSocketMode=0644\n")

    @Test("reports the daemon's state, and counts its clients")
    func status() throws {
        let daemon = try DaemonProcess.ready(installation)
        let reader = try Client(path: installation.readSocket)
        let reply = try reader.ask(#"{"op":"status","id":"r1"}"#)
        #expect(reply["ok"]?.bool == true)
        #expect(reply["id"]?.string == "r1")
        #expect(reply["protocol"]?.int64 == 1)
        #expect(reply["status"]?["read_connections"]?.int64 == 1)
        #expect(try reader.ask(#"{"op":"sync"}"#)["complete"]?.bool == true)
        #expect(try reader.ask(#"{"op":"peek","after":0,"limit":10}"#)["entries"]?.elements.isEmpty == true)
        #expect(try daemon.stop() == .exited(0))
        #expect(access(installation.readSocket, F_OK) != 0)
    }

    @Test("takes each op that changes nothing, refuses the others, and names the socket that takes them")
    func refusals() throws {
        #expect(ControlLines.missing.isEmpty, "these have no line in ControlLines: \(ControlLines.missing)")
        let daemon = try DaemonProcess.ready(installation)
        let client = try Client(path: installation.readSocket)
        for (name, line) in ControlLines.reading { #expect(try client.ask(line).isAccepted, "\(name)") }
        for (name, line) in ControlLines.changing {
            let reply = try client.ask(line)
            #expect(reply.errorCode == "unknown_op", "\(reply)")
            #expect(
                reply.errorMessage
                    == "read.sock takes status, metrics, sync, peek, configuration and log_level without level; "
                    + "\(name) is for control.sock")
        }
        withExtendedLifetime(daemon) {}
    }

    @Test("takes only short lines, regardless of the limit for producers")
    func longLine() throws {
        let daemon = try DaemonProcess.ready(installation)
        let reader = try Client(path: installation.readSocket)
        let line = #"{"op":"status","id":"r1"}"#
        #expect(try reader.ask(line + String(repeating: " ", count: (16 << 10) - line.utf8.count))["ok"]?.bool == true)
        let reply = try reader.ask(line + String(repeating: " ", count: 16 << 10))
        #expect(reply["error"]?["code"]?.string == "too_long")
        // The limit is fixed.
        #expect(reply["error"]?["message"]?.string == "the request is longer than 16384 bytes")
        withExtendedLifetime(daemon) {}
    }

    @Test("read.sock has the mode of ReadMode=")
    func mode() throws {
        let daemon = try DaemonProcess.ready(installation)
        var facts = stat()
        #expect(stat(installation.readSocket, &facts) == 0)
        #expect(facts.st_mode & 0o777 == 0o644)
        withExtendedLifetime(daemon) {}
    }

    @Test("serves pushctl if the user may not use control.sock", .needsRoot)
    func fallback() throws {
        let installation = Installation("[Daemon]\nControlSocketMode=0600\nReadSocketMode=0666\n")
        let daemon = try DaemonProcess.ready(installation)
        // Other users cannot reach the build directory.
        let copy = installation.root + "/pushctl"
        #expect(Program(path: "/bin/cp").run([Program(product: "pushctl").path, copy]).end == .exited(0))
        let user = Program(path: "/usr/bin/setpriv")
        let nobody = ["--reuid", "65534", "--regid", "65534", "--clear-groups"]
        let stranger = nobody + [copy, "--runtime", installation.runtime]
        let status = user.run(stranger + ["status", "--json"])
        #expect(status.end == .exited(0), "\(status.errors)")
        #expect(status.output.contains("\"read_connections\":1"), "\(status.output)")
        let flush = user.run(stranger + ["flush", "--app", "a"])
        #expect(flush.end == .exited(77), "what changes something needs control.sock: \(flush.errors)")
        #expect(!flush.errors.contains("read.sock"), "\(flush.errors)")
        #expect(chmod(installation.readSocket, 0o600) == 0)
        let refused = user.run(stranger + ["status"])
        #expect(refused.end == .exited(77))
        let told = "pushctl: this user may not use \(installation.readSocket)\n"
        #expect(refused.errors == told, "which is enough for it")
        withExtendedLifetime(daemon) {}
    }
}
