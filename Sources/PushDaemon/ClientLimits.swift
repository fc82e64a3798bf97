import PushModel
import PushRouter
import PushSettings

extension DaemonSettings {
    /// The limits of `inject.sock`.
    var injectLimits: LineServer.Limits {
        limits(requestLength: requestLengthMax, descriptors: DescriptorReserve.belowForProducers)
    }

    /// The limits of requests that bridges send: those of one producer.
    var ownLimits: OwnRequests.Limits {
        OwnRequests.Limits(requestLength: requestLengthMax, inputSize: inputSizeMaxPerPeer)
    }

    /// The limits of `control.sock`. A line of the forwarder always fits, however small `RequestLengthMax=` is.
    var controlLimits: LineServer.Limits {
        limits(
            requestLength: max(requestLengthMax, ControlRequest.longestLine),
            descriptors: DescriptorReserve.belowForAdministrators)
    }

    /// The limits of `read.sock`: its lines are short, because the loop itself reads them.
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
