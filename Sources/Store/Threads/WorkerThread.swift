import Glibc

/// A thread that runs one closure, joined by whoever owns this value.
struct WorkerThread: ~Copyable {
    private let thread: pthread_t

    /// Starts the thread with every signal blocked: they belong to the loop's thread.
    init(_ body: @escaping @Sendable () -> Void) throws(StoreError) {
        var all = sigset_t()
        var before = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &before)
        // The box is retained here and released by the thread, or below when there is none.
        let box = Unmanaged.passRetained(Body(body))
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
            throw StoreError.system("pthread_create", "a thread of the store", errno: result)
        }
        thread = created
    }

    /// Waits for the closure to return.
    consuming func join() { pthread_join(thread, nil) }

    private final class Body: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }
}
