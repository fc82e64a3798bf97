import CLinux
import Glibc
import LinuxSystem

extension ProcessCommand {
    /// Starts the program; about 0.4 ms, most of it the kernel's exec.
    func start() throws(SpawnError) -> ChildProcess {
        switch streams {
        case .once(let input, let readsErrors):
            guard let ends = ProgramEnds(sealing: input, readingErrors: readsErrors) else {
                throw SpawnError(errno, starting: self)
            }
            return try start(ends, stays: false)
        case .conversation(let readsErrors):
            guard let ends = ProgramEnds(readingErrors: readsErrors) else { throw SpawnError(errno, starting: self) }
            return try start(ends, stays: true)
        }
    }

    private func start(_ ends: consuming ProgramEnds, stays: Bool) throws(SpawnError) -> ChildProcess {
        LiveRuns.begin(mark, stays: stays)
        var processID: pid_t = 0
        let start = SystemClock.monotonicNanoseconds
        let error = spawn(&processID, ends)
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
            processID: processID, mark: mark, startedAt: start, process: process, ends: ends.takeOurs())
    }

    private func spawn(_ processID: inout pid_t, _ ends: borrowing ProgramEnds) -> Int32 {
        let (input, output, errors) = (ends.input, ends.output, ends.errors)
        return withCStrings(arguments) { argumentPointers in
            withCStrings(["\(Self.markVariable)=\(mark)"] + environment) { environmentPointers in
                CLinux_spawn(
                    &processID, arguments[0], argumentPointers, environmentPointers, workingDirectory, input, output,
                    errors, descriptorLimit ?? 0)
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
