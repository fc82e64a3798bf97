/// A step that the model can take next.
enum Step: Hashable {
    // Nodes.
    case follows(Int)
    case takesLease(Int, endsSessions: Bool)
    case appendsTakeover(Int)
    case givesUp(Int)
    case handsOver(Int)
    case asks(Int)
    case hears(Int, request: UInt8)
    case repeats(Int, request: UInt8)
    case appends(Int)
    case restarts(Int)
    case losesConnection(Int)
    // The engine.
    case handles(message: Int)
    case lockTimeEnds(message: Int)
    case endsLostSessions(Int)
    case standbyReceives
    case endsAppend
    case endsConfirmation
    case cancelsAppend
    case cancelsConfirmation
    case crashes
    case promotes
}

/// The number of faults of each kind that may happen.
struct Budget: Hashable {
    var takes = 0
    var disconnects = 0
    var crashes = 0
    var promotions = 0
    var cancels = 0
    var restarts = 0
    var moves = 0

    var word: UInt64 {
        UInt64(takes) | UInt64(disconnects) << 8 | UInt64(crashes) << 16 | UInt64(promotions) << 24
            | UInt64(cancels) << 32 | UInt64(restarts) << 40 | UInt64(moves) << 48
    }
}
