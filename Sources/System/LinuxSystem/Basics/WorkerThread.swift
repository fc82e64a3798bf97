import CLinux
import Glibc

/// A thread that runs one closure; the owner of this value joins or detaches it.
public struct WorkerThread: ~Copyable, Sendable {
    private let thread: pthread_t

    /// Starts the thread with every signal blocked: the loop's thread takes the signals.
    ///
    /// - Parameters:
    ///   - name: the name in `ps -L`; at most 15 bytes.
    ///   - body: the closure.
    /// - Throws: if the system has no thread left.
    public init(_ name: StaticString, _ body: @escaping @Sendable () -> Void) throws(SystemError) {
        var all = sigset_t()
        var before = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &before)
        // The thread releases the box, or the code below if there is no thread.
        let box = Unmanaged.passRetained(Body(name, body))
        var created = pthread_t()
        let result = pthread_create(
            &created, nil,
            { argument in
                guard let argument else { return nil }
                Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            }, box.toOpaque())
        pthread_sigmask(SIG_SETMASK, &before, nil)
        guard result == 0 else {
            box.release()
            throw SystemError(operation: "start the thread \(name)", errno: result)
        }
        thread = created
    }

    /// Detaches the thread.
    public consuming func detach() { pthread_detach(thread) }

    /// Waits for the closure to return.
    public consuming func join() { pthread_join(thread, nil) }

    private final class Body: Sendable {
        private let name: StaticString
        private let body: @Sendable () -> Void

        init(_ name: StaticString, _ body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }

        func run() {
            name.withUTF8Buffer { name in
                name.withMemoryRebound(to: CChar.self) { if let start = $0.baseAddress { CLinux_name_thread(start) } }
            }
            body()
        }
    }
}
