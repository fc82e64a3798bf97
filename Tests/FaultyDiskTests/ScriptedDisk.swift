import Glibc
import TestSupport
import Testing

/// A disk with programs that make the calls of a test.
final class ScriptedDisk {
    let disk: FaultyDisk
    private let root = TemporaryDirectory()

    /// - Parameter eagerness: the probability, of 1000, that dirty data reaches the platter by itself.
    init(eagerness: Int = 0, seed: UInt64 = 1) {
        mkdir(root.path + "/disk", 0o755)
        disk = FaultyDisk(root.path + "/disk", platterAt: root.path + "/platter", seed: seed)
        disk.eagerness = eagerness
    }

    /// Runs a program that makes these calls, with `/` before a path for the disk's directory.
    ///
    /// - Returns: the result of each call; fewer when the program was killed.
    func run(_ calls: String...) -> [String] { run(calls) }

    func run(_ calls: [String]) -> [String] { prepared(calls)() }

    /// Prepares a run for another thread.
    func prepared(_ calls: String...) -> @Sendable () -> [String] { prepared(calls) }

    private func prepared(_ calls: [String]) -> @Sendable () -> [String] {
        let arguments = calls.map { call in
            call.split(separator: " ").map { $0.first == "/" ? disk.directory + $0 : String($0) }.joined(separator: " ")
        }
        let variables = disk.environment.map { $0.split(separator: "=", maxSplits: 1).map(String.init) }
        let environment = Dictionary(uniqueKeysWithValues: variables.map { ($0[0], $0[1]) })
        return {
            let result = Program.faultyDiskScript.run(arguments, environment: environment)
            #expect(result.errors == "")
            return result.lines
        }
    }

    /// Cuts the power.
    func cut(sparing chance: Int = 0) throws {
        try disk.checkIsComplete()
        try disk.cutPower(sparing: chance)
        #expect(disk.unsafeSectors == 0)
        try disk.checkIsComplete()
    }

    /// The existing files, each with its contents as runs of equal bytes.
    func files(in folder: String = "") -> [String: String] {
        let path = disk.directory + folder
        return Dictionary(
            uniqueKeysWithValues: names(in: path).compactMap { name in
                readFile("\(path)/\(name)").map { (name, Self.runs($0)) }
            })
    }

    /// `a512 .512` for 512 letters and 512 zeros.
    static func runs(_ bytes: [UInt8]) -> String {
        var runs: [(byte: UInt8, count: Int)] = []
        for byte in bytes {
            if runs.last?.byte == byte { runs[runs.count - 1].count += 1 } else { runs.append((byte, 1)) }
        }
        return runs.map { "\($0.byte == 0 ? "." : Character(UnicodeScalar($0.byte)))\($0.count)" }
            .joined(separator: " ")
    }
}
