public import HandlerProcess

/// What is seen of a run from outside, for who tries a handler out. The daemon looks at none of it.
public enum RunObservation: Sendable {
    /// The handler got this: the object on standard input, or a line.
    case given([UInt8])
    /// A handler that answers by lines wrote this line, which has no line feed.
    case line([UInt8])
    /// The program of an `exec` handler wrote this to standard output, and so many bytes more.
    case output([UInt8], discarded: Int)
    /// The program wrote this to standard error.
    case errors([UInt8])
    /// The program ended by itself.
    case ended(ExitStatus)
}

/// Takes what is seen of runs, on the loop.
public typealias RunObserver = (RunObservation) -> Void
