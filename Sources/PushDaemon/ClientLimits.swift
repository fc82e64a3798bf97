import PushModel
import PushRouting
import PushSettings

extension DaemonSettings {
    /// What producers may ask of `inject.sock`.
    var injectLimits: LineServer.Limits { limits(requestLength: requestLengthMax) }

    /// What clients may ask of `control.sock`: what the forwarder has to say must have room, however short the requests of
    /// producers are to be.
    var controlLimits: LineServer.Limits {
        limits(requestLength: max(requestLengthMax, ControlRequest.longestLine))
    }

    private func limits(requestLength: Int) -> LineServer.Limits {
        LineServer.Limits(
            connections: connectionsMax, connectionsPerPeer: connectionsMaxPerPeer, requestLength: requestLength,
            input: .init(total: inputSizeMax, perPeer: inputSizeMaxPerPeer),
            output: .init(total: outputSizeMax, perPeer: outputSizeMaxPerPeer),
            timeouts: ClientTimeouts(
                line: lineTimeout.nanoseconds, write: writeTimeout.nanoseconds,
                idle: idleTimeout == .zero ? nil : idleTimeout.nanoseconds))
    }
}
