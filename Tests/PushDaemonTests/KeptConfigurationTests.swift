import Glibc
import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushDaemon
@testable import PushModel
@testable import PushRouter
@testable import PushSettings

@Suite("The last good configuration", .timeLimit(.minutes(30)))
struct KeptConfigurationTests {
    private let installation = Installation()
    private let now = WallTime(milliseconds: 1_800_000_000_000)

    init() { mkdir(installation.state, 0o700) }

    private func configuration() -> Configuration {
        Configuration(
            directories: [installation.configuration], state: installation.state, isRequired: true,
            service: ServiceFacts())
    }

    /// Starts with a budget in force.
    private func keep(_ budget: String) throws -> Configuration {
        installation.write("pushrouterd.conf", "[Deadline]\nBudget=\(budget)\n")
        var configuration = configuration()
        #expect(try configuration.start().mistake == nil)
        #expect(try configuration.keepStarted(at: now).problem == nil && configuration.isKept)
        return configuration
    }

    private func names() throws -> [String] {
        try SmallFile.names(in: installation.state + "/configurations", suffix: "")
    }

    @Test(
        "is used by a start with any mistake, which is told; without one the start fails",
        arguments: ["wrong value", "unreadable file", "no directory", "unknown group"])
    func mistakes(_ mistake: String) throws {
        func spoil() {
            switch mistake {
            case "wrong value": installation.write("pushrouterd.conf", "[Deadline]\nBudget=10 bananas\n")
            // Not even root can read a directory as a file.
            case "unreadable file":
                unlink(installation.configuration + "/pushrouterd.conf")
                mkdir(installation.configuration + "/pushrouterd.conf", 0o755)
            case "no directory": rename(installation.configuration, installation.root + "/elsewhere")
            default: installation.write("pushrouterd.conf", "[Daemon]\nInjectSocketGroup=no-such-group\n")
            }
        }
        let kept = try keep("7s")
        withExtendedLifetime(kept) {}
        spoil()
        var started = configuration()
        let (settings, _, told) = try started.start()
        #expect(settings.routing.budget == .seconds(7))
        #expect(told?.exitStatus == StartFailure.configuration && told?.lines.isEmpty == false, "\(told?.lines ?? [])")
        let inForce = try started.keepStarted(at: WallTime(milliseconds: now.milliseconds + 5))
        #expect(inForce.problem == nil && inForce.inForce.since == now, "it is in force since its own time")

        for name in try names() { unlink("\(installation.state)/configurations/\(name)") }
        var empty = configuration()
        #expect(throws: StartFailure.self) { _ = try empty.start() }
    }

    @Test("is in files of mode 600 in a directory of mode 700, one for each content")
    func files() throws {
        var configuration = try keep("7s")
        installation.write("pushrouterd.conf", "[Deadline]\nBudget=8s\n")
        let second = try configuration.reload(at: now)
        installation.write("pushrouterd.conf", "[Deadline]\nBudget=7s\n")
        let third = try configuration.reload(at: now)
        #expect(try names() == [second.inForce.id.description, third.inForce.id.description, "list"].sorted())
        var facts = stat()
        stat(installation.state + "/configurations", &facts)
        #expect(facts.st_mode & 0o777 == 0o700)
        for name in try names() {
            stat("\(installation.state)/configurations/\(name)", &facts)
            #expect(facts.st_mode & 0o777 == 0o600, "\(name)")
        }
    }

    @Test("is replaced by one of the same id whose [Store] differs")
    func ofOneID() throws {
        let first = try keep("7s")
        installation.write("pushrouterd.conf", "[Deadline]\nBudget=7s\n[Store]\nRetention=5d\n")
        var second = first
        _ = try second.reload(at: now)
        #expect(try names().count == 2)
        installation.write("pushrouterd.conf", "wrong")
        var started = configuration()
        #expect(try started.start().settings.store.retention == .seconds(5 * 86_400))
    }

    @Test("is a whole one after kill -9 at any write of the next", arguments: 0...3)
    func killed(writes: Int) async throws {
        let first = try keep("7s")
        withExtendedLifetime(first) {}
        installation.write("pushrouterd.conf", "[Deadline]\nBudget=8s\n")
        let (files, state) = (installation.configuration, installation.state)
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [files = files as String, state = state as String, writes = writes as Int] in
            var configuration = Configuration(
                directories: [files], state: state, isRequired: true, service: ServiceFacts())
            _ = try configuration.start()
            let watch = DiskWatch(state)
            watch.killAtWrite(passing: writes)
            _ = try configuration.keepStarted(at: WallTime(milliseconds: 1))
            withExtendedLifetime(watch) {}
            // All was written.
            kill(getpid(), SIGKILL)
        }
        installation.write("pushrouterd.conf", "wrong")
        var started = configuration()
        let budget = try started.start().settings.routing.budget
        #expect(budget == .seconds(writes < 2 ? 7 : 8))
        installation.write("pushrouterd.conf", "[Deadline]\nBudget=6s\n")
        _ = try started.reload(at: now)
        #expect(try names().count <= 4 && !names().contains { $0.hasSuffix(".new") }, "no draft stays")
    }

    @Test("stays if the next cannot be kept: a reload is refused then, and a start goes on and says so")
    func unkept() throws {
        var configuration = try keep("7s")
        let path = installation.state + "/configurations"
        rename(path, path + ".moved")
        writeFile("", to: path)
        installation.write("pushrouterd.conf", "[Deadline]\nBudget=8s\n")
        let refusal = #expect(throws: StartFailure.self) { _ = try configuration.reload(at: now) }
        #expect(
            refusal?.lines.first?.hasPrefix("the configuration cannot be kept: ") == true, "\(refusal?.lines ?? [])")

        var started = self.configuration()
        #expect(try started.start().settings.routing.budget == .seconds(8))
        let kept = try started.keepStarted(at: now)
        #expect(kept.problem?.contains("make room or rights, and reload") == true && !started.isKept)
        let reply = String(decoding: started.reply(about: nil, to: nil), as: UTF8.self)
        #expect(
            reply.contains(kept.inForce.id.description) && reply.contains("Budget=8s"), "readers get it nonetheless")
        unlink(path)
        #expect(try started.reload(at: now).inForce.id == kept.inForce.id)
        #expect(started.isKept)
    }
}
