import Glibc
import LinuxSystem
import TestSupport
import Testing

@testable import pushctl

@Suite("Messages of pushctl to a user without permission", .needsRoot)
struct PermissionTests {
    /// Changes to a user who is only in its own group, in the process of a test.
    private static func becomeNobody() throws {
        let user = try #require(getpwnam("nobody")).pointee
        try #require(setgroups(0, nil) == 0 && setgid(user.pw_gid) == 0 && setuid(user.pw_uid) == 0)
    }

    private static func group() throws -> (name: String, number: gid_t) {
        let group = try #require(getgrgid(1)).pointee
        return (String(cString: group.gr_name), group.gr_gid)
    }

    private static func advice(_ group: String) -> String {
        "nobody is not in the group \(group): sudo adduser nobody \(group), then log in again"
    }

    @Test("name the group of a socket, and the command to join it", arguments: ["inject", "control"])
    func socketGroup(name: String) async {
        await #expect(processExitsWith: .success) { [name] in
            let directory = TemporaryDirectory()
            chmod(directory.path, 0o755)
            let path = "\(directory.path)/\(name).sock"
            let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            var place = sockaddr_un()
            place.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &place.sun_path) { $0.copyBytes(from: path.utf8) }
            let isBound = withUnsafePointer(to: &place) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            let group = try PermissionTests.group()
            try #require(isBound == 0 && listen(listener, 1) == 0)
            try #require(chown(path, 0, group.number) == 0 && chmod(path, 0o660) == 0)
            let sink = open("/dev/null", O_WRONLY | O_CLOEXEC)
            try PermissionTests.becomeNobody()
            let failure = #expect(throws: Failure.self) {
                let arguments = Arguments(command: .inject, operands: [], values: [:])
                _ = try Exchange(path: path, arguments, output: Output(to: sink) { _ in })
            }
            let advice = PermissionTests.advice(group.name)
            let lines = failure?.message.split(separator: "\n").map(String.init) ?? []
            #expect(failure?.status == .noPermission)
            #expect(lines == ["this user may not use \(path)", advice])
        }
    }

    @Test("name the group of the ledger, and the command to join it")
    func ledgerGroup() async {
        await #expect(processExitsWith: .success) {
            let directory = TemporaryDirectory()
            chmod(directory.path, 0o755)
            let state = directory.path + "/state"
            let group = try PermissionTests.group()
            try #require(mkdir(state, 0o750) == 0 && chown(state, 0, group.number) == 0)
            writeFile("", to: state + "/ledger.db")
            try PermissionTests.becomeNobody()
            let arguments = Arguments(command: .inject, operands: [], values: [.stateDirectory: [state]])
            let session = Session(arguments, output: Output(to: 2) { _ in })
            let failure = #expect(throws: Failure.self) { _ = try session.ledger() }
            let advice = PermissionTests.advice(group.name)
            #expect(failure?.status == .noPermission)
            #expect(failure?.message.contains(advice) == true, "\(failure?.message ?? "")")
        }
    }

    @Test("name the mode of a file of one's own, or of one's group, and no group to join")
    func mode() async {
        await #expect(processExitsWith: .success) {
            let directory = TemporaryDirectory()
            chmod(directory.path, 0o755)
            let (own, ofGroup) = (directory.path + "/own", directory.path + "/group")
            let user = try #require(getpwnam("nobody")).pointee
            writeFile("", to: own)
            writeFile("", to: ofGroup)
            try #require(chown(own, user.pw_uid, user.pw_gid) == 0 && chmod(own, 0o444) == 0)
            try #require(chown(ofGroup, 0, user.pw_gid) == 0 && chmod(ofGroup, 0o640) == 0)
            try PermissionTests.becomeNobody()
            #expect(Membership.advice(for: own) == "you own \(own), and its mode is 444: chmod u+rwX \(own)")
            #expect(Membership.advice(for: ofGroup)?.hasSuffix("which you are in, may not do that") == true)
        }
    }
}
