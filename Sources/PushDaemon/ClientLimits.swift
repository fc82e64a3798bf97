import PushModel
import PushRouting
import PushSettings

extension DaemonSettings {
    /// What producers may ask of `inject.sock`.
    var injectLimits: LineServer.Limits {
        limits(requestLength: requestLengthMax, descriptors: DescriptorReserve.belowForProducers)
    }

    /// What bridges may send as requests of the daemon's own: as much as one producer.
    var ownLimits: OwnRequests.Limits {
        OwnRequests.Limits(requestLength: requestLengthMax, inputSize: inputSizeMaxPerPeer)
    }

    /// What clients may ask of `control.sock`: what the forwarder has to say must have room, however short the requests of
    /// producers are to be.
    var controlLimits: LineServer.Limits {
        limits(
            requestLength: max(requestLengthMax, ControlRequest.longestLine),
            descriptors: DescriptorReserve.belowForAdministrators)
    }

    /// What clients may ask of `read.sock`: what it takes is short, and is read in the loop's own turn.
    var readLimits: LineServer.Limits {
        var limits = limits(requestLength: 16 << 10, descriptors: DescriptorReserve.belowForAdministrators)
        limits.lengthSetting = nil
        return limits
    }

    private func limits(requestLength: Int, descriptors: Int32) -> LineServer.Limits {
        LineServer.Limits(
            connections: connectionsMax, connectionsPerPeer: connectionsMaxPerPeer, requestLength: requestLength,
            input: .init(total: inputSizeMax, perPeer: inputSizeMaxPerPeer),
            output: .init(total: outputSizeMax, perPeer: outputSizeMaxPerPeer),
            timeouts: ClientTimeouts(
                line: lineTimeout.nanoseconds, write: writeTimeout.nanoseconds,
                idle: idleTimeout == .zero ? nil : idleTimeout.nanoseconds),
            descriptors: descriptors)
    }
}
