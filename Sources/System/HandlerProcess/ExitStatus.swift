/// How a process ended.
public enum ExitStatus: Sendable, Equatable {
    /// By itself, with this code, 0 to 255.
    case exited(Int32)
    /// By this signal.
    case signaled(Int32)
}
