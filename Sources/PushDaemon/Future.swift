import LinuxSystem

/// A value that one thread computes while another does other work.
final class Future<Value: Sendable, Failure: Error>: Sendable {
    private let result = Monitor<Result<Value, Failure>?>(nil)

    /// Computes the value on the calling thread. To be called once.
    func make(_ make: () throws(Failure) -> Value) {
        let made = Result(catching: make)
        result.update { $0 = made }
    }

    /// Waits until the value is computed.
    func value() throws(Failure) -> Value {
        guard let result = result.wait({ $0 }) else { preconditionFailure("a wait without a limit ends with a value") }
        return try result.get()
    }
}
