import TestSupport
import Testing

@testable import PushModel

@Suite("pushctl explain --example", .timeLimit(.minutes(30)))
struct PushctlExampleTests {
    private func example(_ arguments: String...) -> Program.Result {
        pushctl.run(["explain", "--config", shippedConfiguration, "--example"] + arguments)
    }

    @Test("shows the accident, its consequence and the fix, and needs no configuration")
    func story() {
        let result = pushctl.run(["explain", "--example", "notification-block"])
        #expect(result.end == .exited(0) && result.errors.isEmpty)
        let lines = result.lines
        #expect(lines.first == "notification-block: A notification block beside _ab")
        let order = [
            "beside: a Braze push, visible, campaign spring; does not count for influenced opens: the system shows it in place "
                + "of Braze's SDK",
            "  No callback of the app runs; the outcome is shown_by_system", "The result", "The fix",
            "data-only: a Braze push, visible, campaign spring; counts for influenced opens",
            "  onMessageReceived -> tracker of opens", "The result after the change",
            "  - the tap is a direct open of the campaign", "Sources",
        ]
        #expect(order.map { lines.firstIndex(of: $0) ?? -1 } == order.compactMap { lines.firstIndex(of: $0) }.sorted())
    }

    @Test("explain --example decides by the existing configuration")
    func configured() {
        let directory = TemporaryDirectory()
        let config = directory.path + "/config"
        #expect(Program(path: "/bin/cp").run(["-r", shippedConfiguration, config]).end == .exited(0))
        writeFile("", to: config + "/providers.d/mixpanel.provider")
        let told = "two owners: the rules of Braze and Mixpanel match"
        #expect(example("two-owners").output.contains(told))
        let masked = pushctl.run(["explain", "--example", "two-owners", "--config", config])
        #expect(masked.end == .exited(0) && !masked.output.contains(told))
    }

    @Test("lists the names, and suggests the nearest for a wrong one")
    func names() throws {
        let list = example("list")
        #expect(list.end == .exited(0) && list.lines.count == 10)
        #expect(list.lines.contains("two-owners          Two SDKs, one payload"))
        for name in ["two-owner", "two"] {
            let wrong = example(name)
            #expect(wrong.end == .exited(2) && wrong.errors.contains("; did you mean two-owners?"))
        }
        #expect(try json(example("list", "--json").output).elements.count == 10)
    }

    @Test("writes the scenario for programs, as a file for pushctl test")
    func scenario() throws {
        let directory = TemporaryDirectory()
        for name in example("list").lines.compactMap({ $0.split(separator: " ").first }) {
            let root = try json(example(String(name), "--json").output)
            #expect(root["name"]?.string == String(name))
            writeFile(try #require(root["scenario"]?.string), to: "\(directory.path)/\(name).jsonl")
        }
        let result = pushctl.run(["test", "--config", shippedConfiguration, directory.path])
        #expect(result.end == .exited(0), "\(result.output)")
        #expect(result.output.contains("in 10 files"))
    }

    @Test(
        "excludes a payload and its options",
        arguments: [
            (["--platform", "ios"], "it takes no --platform"), (["--locked"], "it takes no --locked"),
            (["push.json"], "push.json is one operand too many"),
        ])
    func alone(more: [String], message: String) {
        let result = pushctl.run(["explain", "--example", "completion"] + more)
        #expect(result.end == .exited(2) && result.errors.contains(message))
    }
}
