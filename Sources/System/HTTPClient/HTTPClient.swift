import CCurl
import LinuxSystem

/// The readiness of a socket, wanted or found.
public struct HTTPReadiness: OptionSet, Sendable {
    public let rawValue: Int

    /// - Parameter rawValue: the bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// There is data to read, or the end of file.
    public static let read = HTTPReadiness(rawValue: 1)
    /// There is room to write.
    static let write = HTTPReadiness(rawValue: 2)
    /// It has an error.
    public static let error = HTTPReadiness(rawValue: 4)
}

/// A socket of a client.
public struct HTTPSocket {
    /// Its number for libcurl; another socket may get the number after this one is closed.
    public let number: Int32
    /// The descriptor for a loop's source.
    let descriptor: SharedDescriptor

    init(_ number: Int32, _ descriptor: SharedDescriptor) {
        self.number = number
        self.descriptor = descriptor
    }
}

/// Sends requests over HTTP/1.1, or HTTP/2 if TLS negotiates it, and keeps connections for later requests. The server's
/// certificate is always verified, redirects are not followed, and the proxies of the environment (`https_proxy`,
/// `no_proxy`) are used for TLS only.
///
/// It does not wait: its owner watches sockets and a timer for it. Used on one thread. Its closures may not call it,
/// except for a completion, which may post or cancel requests.
public final class HTTPClient {
    private final class Callbacks {
        let setTimer: (Int?) -> Void
        let sockets: ConnectionSockets

        init(watch: @escaping (HTTPSocket, HTTPReadiness?) -> Void, setTimer: @escaping (Int?) -> Void) {
            self.setTimer = setTimer
            sockets = ConnectionSockets(watch: watch)
        }
    }

    /// The largest number of idle transfers kept for later requests; each takes some 20 KiB.
    private static let idleMax = 32

    private let callbacks: Callbacks
    private var multi: MultiHandle?
    private var transfers: [UnsafeMutableRawPointer: Transfer] = [:]
    private var idle: [Transfer] = []
    private var handles: [HTTPRequestID: UnsafeMutableRawPointer] = [:]
    private var lastID = 0

    /// - Parameters:
    ///   - watch: takes a socket and the events to watch it for, none if empty; `nil` ends the watch, because the
    ///     socket is
    ///     about to be closed.
    ///   - connectionsPerHost: the largest number of connections to a host; further requests wait. `nil` means no
    ///     limit.
    ///   - setTimer: takes the time until the next ``timerFired()``, in milliseconds, which replaces an earlier one;
    ///     `nil`
    ///     cancels it.
    /// - Throws: if libcurl cannot be set up.
    init(
        connectionsPerHost: Int? = nil, watch: @escaping (HTTPSocket, HTTPReadiness?) -> Void,
        setTimer: @escaping (Int?) -> Void
    ) throws(HTTPClientError) {
        callbacks = Callbacks(watch: watch, setTimer: setTimer)
        let handle = try MultiHandle()
        let onSocket: curl_socket_callback = { _, socket, what, context, _ in
            guard let context else { return -1 }
            let callbacks = Unmanaged<Callbacks>.fromOpaque(context).takeUnretainedValue()
            var interest: HTTPReadiness = []
            if what == CURL_POLL_IN || what == CURL_POLL_INOUT { interest.insert(.read) }
            if what == CURL_POLL_OUT || what == CURL_POLL_INOUT { interest.insert(.write) }
            callbacks.sockets.want(interest, of: socket)
            return 0
        }
        let onTimer: curl_multi_timer_callback = { _, milliseconds, context in
            guard let context else { return -1 }
            let callbacks = Unmanaged<Callbacks>.fromOpaque(context).takeUnretainedValue()
            callbacks.setTimer(milliseconds < 0 ? nil : milliseconds)
            return 0
        }
        // The pointer is valid: deinit frees the handle before the callbacks.
        let context = Unmanaged.passUnretained(callbacks).toOpaque()
        let result = CCurl_multi_set_callbacks(handle.pointer, onSocket, onTimer, context)
        guard result == CURLM_OK else {
            throw HTTPClientError(description: String(cString: curl_multi_strerror(result)))
        }
        if let connectionsPerHost {
            // Keeps as many idle connections as a host may have.
            for option in [CURLMOPT_MAX_HOST_CONNECTIONS, CURLMOPT_MAXCONNECTS] {
                CCurl_multi_set_long(handle.pointer, option, connectionsPerHost)
            }
        }
        multi = consume handle
    }

    deinit {
        for handle in transfers.keys { curl_multi_remove_handle(multiPointer, handle) }
        transfers = [:]
        idle = []
        multi = nil
    }

    /// Sends a request; the answer comes later, during ``ready(_:for:)`` or ``timerFired()``.
    ///
    /// - Parameters:
    ///   - body: the body of the POST.
    ///   - destination: the URL and the options.
    ///   - completion: called once with the result; may post the next request.
    /// - Returns: the id for ``cancel(_:)``.
    /// - Throws: if libcurl refuses the destination or has no memory; then nothing was sent.
    @discardableResult
    public func post(
        _ body: [UInt8], to destination: HTTPDestination, completion: @escaping (HTTPResult) -> Void
    ) throws(HTTPClientError) -> HTTPRequestID {
        lastID += 1
        let id = HTTPRequestID(value: lastID)
        let transfer = try transfer(to: destination.common)
        try transfer.begin(body, to: destination, id: id, completion: completion)
        let handle = transfer.easy.pointer
        transfers[handle] = transfer
        let result = curl_multi_add_handle(multiPointer, handle)
        guard result == CURLM_OK else {
            transfers[handle] = nil
            throw HTTPClientError(description: String(cString: curl_multi_strerror(result)))
        }
        handles[id] = handle
        return id
    }

    /// Cancels a request: its completion is not called. Has no effect after its end.
    public func cancel(_ id: HTTPRequestID) {
        guard let handle = handles.removeValue(forKey: id) else { return }
        curl_multi_remove_handle(multiPointer, handle)
        transfers.removeValue(forKey: handle).map(keep)
    }

    private func transfer(to common: HTTPDestination.Common) throws(HTTPClientError) -> Transfer {
        if let place = idle.lastIndex(where: { $0.common == common }) { return idle.remove(at: place) }
        return try Transfer(common, callbacks.sockets)
    }

    /// Keeps a transfer that has ended for a later request.
    private func keep(_ transfer: Transfer) {
        transfer.end()
        if idle.count < Self.idleMax { idle.append(transfer) }
    }

    /// Reports that a watched socket, by its number, is ready.
    public func ready(_ number: Int32, for readiness: HTTPReadiness) {
        var bits: Int32 = 0
        if readiness.contains(.read) { bits |= CURL_CSELECT_IN }
        if readiness.contains(.write) { bits |= CURL_CSELECT_OUT }
        if readiness.contains(.error) { bits |= CURL_CSELECT_ERR }
        act(number, bits)
    }

    /// Reports that the time of the last `setTimer` has come.
    func timerFired() { act(CURL_SOCKET_BAD, 0) }

    private var multiPointer: UnsafeMutableRawPointer {
        guard let pointer = multi?.pointer else { preconditionFailure("the handle is there as long as the client is") }
        return pointer
    }

    private func act(_ socket: Int32, _ bits: Int32) {
        var running: Int32 = 0
        let result = curl_multi_socket_action(multiPointer, socket, bits, &running)
        precondition(result == CURLM_OK, "libcurl: \(String(cString: curl_multi_strerror(result)))")
        var code = CURLE_OK
        var finished: [((HTTPResult) -> Void, HTTPResult)] = []
        while let handle = CCurl_next_finished(multiPointer, &code) {
            guard let transfer = transfers.removeValue(forKey: handle) else { continue }
            curl_multi_remove_handle(multiPointer, handle)
            if transfer.mayRestart(code), (try? transfer.restart()) != nil,
                curl_multi_add_handle(multiPointer, handle) == CURLM_OK
            {
                transfers[handle] = transfer
                continue
            }
            handles[transfer.id] = nil
            finished.append((transfer.completion, transfer.result(code)))
            keep(transfer)
        }
        for (completion, result) in finished { completion(result) }
    }
}
