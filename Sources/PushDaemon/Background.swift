import LinuxSystem

/// A value that a thread of its own makes, while this one does something else.
final class Background<Value: Sendable, Failure: Error> {
    private let result: Monitor<Result<Value, Failure>?>

    /// Begins to make it. Without another thread it is made at once.
    init(_ name: StaticString, _ make: @escaping @Sendable () throws(Failure) -> Value) {
        let result = Monitor<Result<Value, Failure>?>(nil)
        self.result = result
        let work: @Sendable () -> Void = {
            let made = Result(catching: make)
            result.update { $0 = made }
        }
        do {
            // The thread ends by itself: nobody needs to wait for more than the value.
            try WorkerThread(name, work).detach()
        } catch {
            work()
        }
    }

    /// Waits until it is made.
    func value() throws(Failure) -> Value {
        guard let result = result.wait({ $0 }) else { preconditionFailure("a wait without a limit ends with a value") }
        return try result.get()
    }
}
