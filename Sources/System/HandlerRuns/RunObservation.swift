public import HandlerProcess

/// An observation of a run, for `pushctl run-handler`. The daemon uses none.
public enum RunObservation: Sendable {
    /// The handler's input: the object on standard input, or a line.
    case given([UInt8])
    /// A handler that answers by lines wrote this line, which has no line feed.
    case line([UInt8])
    /// The standard output of an `exec` handler's program, and the number of further bytes.
    case output([UInt8], discarded: Int)
    /// The standard error of the program.
    case errors([UInt8])
    /// The program ended by itself.
    case ended(ExitStatus)
}

/// Takes observations of runs, on the loop.
public typealias RunObserver = (RunObservation) -> Void
