import PushModel

/// The requests in flight, in all and of each account, for comparison with the limits.
struct Usage: Sendable {
    private(set) var requests = 0
    /// The size of the lines of requests in flight, in bytes.
    private(set) var bytes = 0
    /// The part of `bytes` in memory for waiting invocations; a request counts once for each of them.
    private(set) var payloadBytes = 0
    /// The approximate memory of invocations in flight without payloads, in bytes.
    private(set) var invocationBytes = 0
    private var byAccount: [Account: Share] = [:]
    /// For each request in flight: the number of invocations without an outcome, the size of its line, and the counted
    /// memory of all its invocations.
    private var open = ShardedDictionary<SequenceNumber, (invocations: Int32, bytes: Int32, memory: Int)>()

    /// The requests in flight of one account.
    private struct Share {
        var requests = 0
        var bytes = 0
        var memory = 0
    }

    /// Returns the reason, for people, why a request of so many bytes exceeds a limit; `nil`: it exceeds none.
    func refusal(of account: Account, adding bytes: Int, _ limits: RoutingLimits) -> String? {
        let own = byAccount[account] ?? Share()
        let (size, ownSize) = (self.bytes + bytes, own.bytes + bytes)
        if requests >= limits.inFlight {
            return "\(counted(requests, "request is", "requests are")) in flight, the limit"
        } else if own.requests >= limits.inFlightPerPeer {
            let requests = "\(counted(own.requests, "request")) of \(account)"
            return "\(requests) \(own.requests == 1 ? "is" : "are") in flight, the limit"
        } else if size > limits.unfinishedBytes {
            return "the requests in flight would have \(size) bytes, more than the limit"
        } else if ownSize > limits.unfinishedBytesPerPeer {
            return "the requests of \(account) in flight would have \(ownSize) bytes, more than the limit"
        } else if invocationBytes >= limits.invocationMemory {
            return "the requests in flight take \(invocationBytes) bytes of memory, the limit"
        } else if own.memory >= limits.invocationMemoryPerPeer {
            return "the requests of \(account) in flight take \(own.memory) bytes of memory, the limit"
        }
        return nil
    }

    /// Whether no request is in flight.
    var isEmpty: Bool { requests == 0 && byAccount.isEmpty }

    func invocations(of seq: SequenceNumber) -> Int { open[seq].map { Int($0.invocations) } ?? 0 }

    mutating func reserve(_ count: Int) { open.reserveCapacity(count) }

    mutating func keeps(payloadOf bytes: Int) { payloadBytes += bytes }

    mutating func letsGo(payloadOf bytes: Int) { payloadBytes -= bytes }

    /// - Parameters:
    ///   - length: the size of the request's line in bytes.
    ///   - memory: the approximate memory of the invocation without line and payload.
    mutating func began(_ id: InvocationID, of account: Account, bytes length: Int, memory: Int) {
        var request = open[id.seq] ?? (0, Int32(length), 0)
        request.invocations += 1
        request.memory += memory
        open[id.seq] = request
        invocationBytes += memory
        var share = byAccount[account] ?? Share()
        share.memory += memory
        if request.invocations == 1 {
            requests += 1
            bytes += length
            share.requests += 1
            share.bytes += length
        }
        byAccount[account] = share
    }

    mutating func ended(_ id: InvocationID, of account: Account) {
        guard let request = open[id.seq] else { return }
        guard request.invocations == 1 else {
            open[id.seq]?.invocations -= 1
            return
        }
        open[id.seq] = nil
        requests -= 1
        bytes -= Int(request.bytes)
        invocationBytes -= request.memory
        guard var share = byAccount[account] else { return }
        share.requests -= 1
        share.bytes -= Int(request.bytes)
        share.memory -= request.memory
        byAccount[account] = share.requests == 0 ? nil : share
    }
}
