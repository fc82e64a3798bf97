import LinuxSystem

/// A value that another thread makes, while this one does something else.
final class Background<Value: Sendable, Failure: Error>: Sendable {
    private let result = Monitor<Result<Value, Failure>?>(nil)

    /// Makes it, on the thread that calls this, once.
    func make(_ make: () throws(Failure) -> Value) {
        let made = Result(catching: make)
        result.update { $0 = made }
    }

    /// Waits until it is made.
    func value() throws(Failure) -> Value {
        guard let result = result.wait({ $0 }) else { preconditionFailure("a wait without a limit ends with a value") }
        return try result.get()
    }
}
