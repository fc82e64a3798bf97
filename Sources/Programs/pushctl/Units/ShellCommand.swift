import Glibc

/// Runs a command with the shell, and reads its output.
enum ShellCommand {
    /// The most output that is read, in bytes.
    private static let lengthMax = 1 << 20

    /// - Returns: the exit status and the output; `nil` if popen(3) failed.
    static func output(of command: String) -> (status: Int32, text: String)? {
        guard let pipe = popen(command, "re") else { return nil }
        var text: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while text.count < lengthMax {
            let count = fread(&chunk, 1, chunk.count, pipe)
            guard count > 0 else { break }
            text += chunk[..<count]
        }
        let end = pclose(pipe)
        // As a shell has it: an end by a signal is no status of the program.
        let status = end & 0x7F == 0 ? end >> 8 & 0xFF : 128 + (end & 0x7F)
        return (status, String(decoding: text, as: UTF8.self))
    }

    /// A word, quoted for the shell.
    static func quoted(_ word: String) -> String {
        "'" + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}
