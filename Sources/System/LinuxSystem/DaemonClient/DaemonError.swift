public import PushModel

/// The reason why the daemon did not carry out a request.
public enum DaemonError: Error, Equatable, CustomStringConvertible {
    /// There is no connection, or it broke.
    case socket(ClientError)
    /// The daemon closed the connection instead of answering.
    case noAnswer(path: String)
    /// The daemon refused the request.
    case refused(ProtocolError)
    /// The daemon's answer does not fit the request.
    case unreadable(path: String, reason: String)

    /// The fault, as one sentence without a full stop.
    public var description: String {
        switch self {
        case .socket(let error): error.description
        case .noAnswer(let path): "\(path): the daemon closed the connection without an answer"
        case .refused(let refusal): "the daemon refuses: \(refusal.message)"
        case .unreadable(_, let reason): "the daemon's reply cannot be read: \(reason)"
        }
    }

    /// A remedy for the user, as a part of a sentence; `nil` if none is known.
    public var remedy: String? {
        switch self {
        case .socket(.noSuchSocket), .socket(.noListener): "start pushrouterd: systemctl start pushrouterd"
        case .socket(.permissionDenied(let path)): Membership.advice(for: path)
        default: nil
        }
    }

    /// Converts the error of a reply.
    init(_ error: ControlReplyError, path: String) {
        switch error {
        case .refused(let refusal): self = .refused(refusal)
        case .unreadable(let reason): self = .unreadable(path: path, reason: reason)
        }
    }
}
