import Glibc
import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushModel
@testable import Store

/// Two installations on this machine that share a log in a database.
final class MachinePair {
    let server = PostgreSQLServer()
    let first: Installation
    let second: Installation

    /// - Parameters:
    ///   - lease: the time that a leader leads without an answer of the database.
    ///   - durability: `Durability=`.
    ///   - settings: further lines of the section.
    ///   - isMade: whether to set up the fleet.
    init(
        lease: String = "5s", durability: String = "engine", settings: String = "", isMade: Bool = true
    ) throws {
        server.sql("CREATE DATABASE push")
        let place = server.root
        func machine(_ name: String) -> Installation {
            let installation = Installation(
                """
                [Store]
                Log=postgresql://postgres@/push?host=\(place)&port=5432
                Durability=\(durability)
                Node=\(name)
                Lease=\(lease)
                \(settings)
                """)
            installation.addJob(
                "note", "cat >/dev/null; echo $PUSH_SEQ >>\(place)/runs; echo $PUSH_EPOCH >>\(place)/terms")
            installation.addJob(
                "hang", "cat >/dev/null; echo $PUSH_SEQ >>\(place)/runs; exec sleep 60")
            return installation
        }
        (first, second) = (machine("first"), machine("second"))
        // The handlers of both machines write to these files.
        for name in ["runs", "terms"] {
            writeFile("", to: "\(place)/\(name)")
            chmod("\(place)/\(name)", 0o666)
        }
        if isMade { try makeFleet() }
    }

    /// Sets the fleet up.
    func makeFleet(_ words: String...) throws {
        let made = Program(product: "pushrouterd-fleet").run(["--config", first.configuration, "--init"] + words)
        try #require(made.end == .exited(0), "\(made.errors)")
    }

    /// Gives a machine another database; `nil`: a log of its own.
    func use(_ database: String?, on machine: Installation) {
        let name = machine.configuration == first.configuration ? "first" : "second"
        let log = database.map { "Log=postgresql://postgres@/\($0)?host=\(server.root)&port=5432\nDurability=engine\n" }
        machine.write("pushrouterd.conf", "[Store]\n\(log ?? "")Node=\(name)\n")
    }

    /// The numbers of the requests whose handlers ran, in order.
    var runs: [String] { lines("runs") }

    /// The terms in the environment of these handlers.
    var terms: [String] { lines("terms") }

    private func lines(_ name: String) -> [String] {
        let text = String(decoding: readFile("\(server.root)/\(name)") ?? [], as: UTF8.self)
        return text.split(separator: "\n").map(String.init)
    }

    /// Starts a machine, and waits until it follows.
    func start(_ machine: Installation) throws -> DaemonProcess {
        let daemon = DaemonProcess(machine, program: "pushrouterd-fleet")
        try daemon.waitForNotification("READY=1")
        return daemon
    }

    /// Starts a machine, and waits until it leads.
    func startLeader(_ machine: Installation) throws -> DaemonProcess {
        let daemon = try start(machine)
        try daemon.waitForNotification("READY=1", times: 2)
        return daemon
    }

    /// Starts both; the first one leads.
    func startBoth() throws -> (leader: DaemonProcess, follower: DaemonProcess) {
        let leader = try startLeader(first)
        let follower = try start(second)
        try follower.waitForStatus("STATUS=follows as second; first leads")
        // An order to move reads the row that each follower writes once a second.
        try waitUntil("the database knows the second copy") { status.contains("second: ") }
        return (leader, follower)
    }

    var status: String { order("--status").output }

    /// Has one of the program's commands run, and does not wait for it.
    ///
    /// - Returns: whether it was started.
    func begin(_ words: String...) -> Bool {
        let program = Program(product: "pushrouterd-fleet").path
        let command = ([program, "--config", first.configuration] + words).joined(separator: " ")
        return Program(path: "/bin/sh").run(["-c", "\(command) >/dev/null 2>&1 &"]).end == .exited(0)
    }

    /// Runs one of the program's commands, on the first machine.
    func order(_ words: String...) -> Program.Result { order(words) }

    /// Runs one of the program's commands, on the first machine.
    func order(_ words: [String]) -> Program.Result {
        Program(product: "pushrouterd-fleet").run(["--config", first.configuration] + words)
    }
}
