import Glibc
import LinuxSystem

/// How far a flush came.
public enum FlushResult: Equatable, Sendable {
    /// Nothing is queued any more.
    case done
    /// The peer takes no more for now. Flush again when the connection is writable.
    case wouldBlock
    /// The peer is gone, and what was queued with it.
    case closed
}

/// Bytes on their way out.
struct WriteQueue {
    private var bytes: [UInt8] = []
    /// How many of `bytes` have been sent.
    private var sent = 0
    /// Whether the peer was gone before all was sent.
    private(set) var wasCut = false

    var pendingBytes: Int { bytes.count - sent }

    mutating func append(_ more: some Collection<UInt8>) {
        // The rest moves to the front only when it is the smaller part: each byte moves once on average.
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
        // A connection that is idle again does not hold what its largest reply took.
        bytes.removeAll(keepingCapacity: bytes.capacity <= 4096)
        sent = 0
    }
}
