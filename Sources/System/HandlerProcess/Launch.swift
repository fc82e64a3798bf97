import CLinux
import Glibc
import LinuxSystem

extension ProcessCommand {
    /// Starts the program; about 0.4 ms, most of it the kernel's exec.
    func start() throws(SpawnError) -> ChildProcess {
        guard let input = sealedInput() else { throw SpawnError(errno, starting: self) }
        guard let output = Pipe() else { throw SpawnError(errno, starting: self) }
        LiveRuns.begin(mark)
        var processID: pid_t = 0
        let start = SystemClock.monotonicNanoseconds
        let error = spawn(&processID, input: input.rawValue, output: output.writeEnd.rawValue)
        guard error == 0 else {
            LiveRuns.end(mark)
            throw SpawnError(error, starting: self)
        }
        LiveRuns.addChild(processID, mark: mark)
        // Only we reap it, so the number is still its own.
        guard let process = FileDescriptor(CLinux_pidfd_open(processID)) else {
            let error = SpawnError(errno, starting: self)
            abandon(processID)
            throw error
        }
        return ChildProcess(
            processID: processID, mark: mark, startedAt: start, process: process, output: output.takeReadEnd())
    }

    /// The standard input as a file in memory at its start: it never makes us wait for the reader, as a pipe would, and
    /// the seals keep the program from growing it.
    private func sealedInput() -> FileDescriptor? {
        guard let file = FileDescriptor(CLinux_memory_file()) else { return nil }
        var written = 0
        while written < standardInput.count {
            let count = standardInput[written...].withUnsafeBytes { write(file.rawValue, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return nil }
            written += count
        }
        guard CLinux_seal(file.rawValue) == 0, lseek(file.rawValue, 0, SEEK_SET) == 0 else { return nil }
        return file
    }

    private func spawn(_ processID: inout pid_t, input: Int32, output: Int32) -> Int32 {
        withCStrings(arguments) { argumentPointers in
            withCStrings(["\(Self.markVariable)=\(mark)"] + environment) { environmentPointers in
                CLinux_spawn(
                    &processID, arguments[0], argumentPointers, environmentPointers, workingDirectory, input, output)
            }
        }
    }

    /// Ends a child that we cannot watch.
    private func abandon(_ processID: pid_t) {
        kill(-processID, SIGKILL)
        kill(processID, SIGKILL)
        LiveRuns.removeChild(processID)
        LiveRuns.end(mark)
        _ = ExitStatus.wait(P_PID, id_t(processID), 0)
    }
}

/// A pipe whose read end does not block.
private struct Pipe: ~Copyable {
    private let readEnd: FileDescriptor
    let writeEnd: FileDescriptor

    /// Nil if the system has none left: see `errno`.
    init?() {
        var ends: [Int32] = [-1, -1]
        guard CLinux_pipe(&ends) == 0, let readEnd = FileDescriptor(ends[0]), let writeEnd = FileDescriptor(ends[1])
        else { return nil }
        _ = fcntl(readEnd.rawValue, F_SETFL, O_NONBLOCK)
        self.readEnd = readEnd
        self.writeEnd = writeEnd
    }

    consuming func takeReadEnd() -> FileDescriptor { readEnd }
}

/// Calls `body` with the texts as C takes arguments: an array of pointers that ends with a null.
private func withCStrings(
    _ texts: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Int32
) -> Int32 {
    var characters: [CChar] = []
    var starts: [Int] = []
    for text in texts {
        starts.append(characters.count)
        characters.append(contentsOf: text.utf8CString)
    }
    return characters.withUnsafeMutableBufferPointer { buffer in
        body(starts.map { start in buffer.baseAddress.map { $0 + start } } + [nil])
    }
}
