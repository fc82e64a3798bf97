import Glibc

/// The result of a flush.
public enum FlushResult: Equatable, Sendable {
    /// The queue is empty.
    case done
    /// The peer accepts no more for now. Flush again when the connection is writable.
    case wouldBlock
    /// The peer has closed the connection; the queue is dropped.
    case closed
}

/// A queue of outgoing bytes.
struct WriteQueue {
    private var bytes: [UInt8] = []
    /// The number of `bytes` that have been sent.
    private var sent = 0
    /// Whether the peer closed the connection before all bytes were sent.
    private(set) var wasCut = false

    var pendingBytes: Int { bytes.count - sent }

    mutating func append(_ more: some Collection<UInt8>) {
        // Moves the rest to the front only if it is the smaller part: each byte moves once on average.
        if sent > bytes.count / 2 {
            bytes.removeFirst(sent)
            sent = 0
        }
        bytes.append(contentsOf: more)
    }

    mutating func flush(to descriptor: Int32) -> FlushResult {
        guard pendingBytes > 0 else { return .done }
        let count = bytes.withUnsafeBytes { bytes in
            retryingInterrupts {
                send(
                    descriptor, bytes.baseAddress.map { $0 + sent }, bytes.count - sent,
                    Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
            }
        }
        guard count >= 0 else {
            if errno == EAGAIN || errno == ENOBUFS || errno == ENOMEM { return .wouldBlock }
            precondition(errno != EBADF && errno != ENOTSOCK, "write to something that is not an open socket")
            clear()
            wasCut = true
            return .closed
        }
        sent += count
        guard pendingBytes == 0 else { return .wouldBlock }
        clear()
        return .done
    }

    private mutating func clear() {
        // An idle connection frees the memory of its largest reply.
        bytes.removeAll(keepingCapacity: bytes.capacity <= 4096)
        sent = 0
    }
}
