import CCurl
import Glibc
import LinuxSystem

/// Owns a multi handle.
struct MultiHandle: ~Copyable {
    let pointer: UnsafeMutableRawPointer

    init() throws(HTTPClientError) {
        guard Self.isInitialized, let pointer = curl_multi_init() else {
            throw HTTPClientError(description: "libcurl cannot be initialized")
        }
        self.pointer = pointer
    }

    deinit { curl_multi_cleanup(pointer) }

    /// curl_global_init must be called once for each process.
    private static let isInitialized = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
}

/// Owns an easy handle: one request.
struct EasyHandle: ~Copyable {
    let pointer: UnsafeMutableRawPointer

    init() throws(HTTPClientError) {
        guard let pointer = curl_easy_init() else { throw HTTPClientError(description: "libcurl has no memory left") }
        self.pointer = pointer
    }

    deinit { curl_easy_cleanup(pointer) }

    func set(_ option: CURLoption, _ value: Int) throws(HTTPClientError) {
        try check(CCurl_set_long(pointer, option, value), option)
    }

    func set(_ option: CURLoption, _ value: String) throws(HTTPClientError) {
        // libcurl copies the text.
        try check(CCurl_set_text(pointer, option, value), option)
    }

    func set(_ option: CURLoption, _ value: UnsafeMutableRawPointer?) throws(HTTPClientError) {
        try check(CCurl_set_pointer(pointer, option, value), option)
    }

    func check(_ result: CURLcode, _ option: CURLoption) throws(HTTPClientError) {
        guard result == CURLE_OK else {
            let reason = String(cString: curl_easy_strerror(result))
            throw HTTPClientError(description: "libcurl refuses option \(option.rawValue): \(reason)")
        }
    }
}

/// Owns the header lines of a request for libcurl: one block of memory for the text and one for the list, reused by the
/// next request.
struct HeaderList: ~Copyable {
    private var text = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    private var length = 0
    private var nodes = UnsafeMutableBufferPointer<curl_slist>(start: nil, count: 0)
    /// The place of the budget's digits.
    private var budget: Range<Int>?

    /// The largest number of digits of a number of milliseconds.
    private static let digits = 19

    /// The first node of the list for libcurl.
    var first: UnsafeMutablePointer<curl_slist>? { length > 0 ? nodes.baseAddress : nil }

    deinit {
        overwrite()
        text.deallocate()
        nodes.deallocate()
    }

    /// Removes the lines.
    mutating func clear() {
        overwrite()
        length = 0
        budget = nil
    }

    /// Overwrites the text: one of the lines may be secret.
    private func overwrite() {
        if let start = text.baseAddress { explicit_bzero(start, length) }
    }

    /// Sets the lines, each with a NUL after it, the line with the token, and a line with a number that `setBudget`
    /// sets.
    mutating func fill(_ lines: [UInt8], bearer: Secret?, budget header: String?) {
        clear()
        // An empty Expect line: "Expect: 100-continue" would cost a round trip, and a second with servers that do not
        // know it.
        append("Expect:\0".utf8)
        append(lines)
        bearer?.withCString(after: "Authorization: Bearer ") { line in
            append(UnsafeRawBufferPointer(start: line, count: strlen(line) + 1))
        }
        if let header {
            append("\(header): ".utf8)
            budget = length..<(length + Self.digits)
            append(repeatElement(UInt8(ascii: "0"), count: Self.digits))
            append(CollectionOfOne(0))
        }
        link()
    }

    /// Writes the number into its line, in place, because libcurl has the line's address.
    mutating func setBudget(milliseconds: Int64) {
        guard let budget else { return }
        let number = Array(String(milliseconds).utf8.prefix(budget.count)) + [0]
        UnsafeMutableRawBufferPointer(rebasing: text[budget.lowerBound...budget.upperBound]).copyBytes(from: number)
    }

    private mutating func append(_ lines: some Collection<UInt8>) {
        reserve(length + lines.count)
        text[length...].copyBytes(from: lines)
        length += lines.count
    }

    /// Makes room for so many bytes.
    private mutating func reserve(_ count: Int) {
        guard count > text.count else { return }
        let longer = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1024, 2 * count), alignment: 1)
        longer.copyBytes(from: text[..<length])
        overwrite()
        text.deallocate()
        text = longer
    }

    /// Builds the list of the lines.
    private mutating func link() {
        var count = 0
        var start = 0
        while start < length, let line = text.baseAddress?.advanced(by: start).assumingMemoryBound(to: CChar.self) {
            if count == nodes.count { growNodes() }
            nodes.initializeElement(at: count, to: curl_slist(data: line, next: nil))
            count += 1
            start += strlen(line) + 1
        }
        for index in 1..<max(1, count) { nodes[index - 1].next = nodes.baseAddress?.advanced(by: index) }
    }

    private mutating func growNodes() {
        let more = UnsafeMutableBufferPointer<curl_slist>.allocate(capacity: max(32, 2 * nodes.count))
        _ = more.moveInitialize(fromContentsOf: nodes)
        nodes.deallocate()
        nodes = more
    }
}

/// The sockets of a client. This object opens and closes the sockets of connections. A resolver of libcurl opens its
/// own sockets, of which this object watches copies.
///
/// libcurl has the address of this object as long as a connection lives, at most as long as its multi handle.
final class ConnectionSockets {
    private var open: [Int32: SharedDescriptor] = [:]
    /// Copies of the resolvers' sockets.
    private var copies: [Int32: SharedDescriptor] = [:]
    /// The last streams that servers processed before they ended a connection, by libcurl's numbers of the connections.
    private var lastStreams: [Int: Int] = [:]
    private let watch: (HTTPSocket, HTTPReadiness?) -> Void

    /// - Parameter watch: the closure of ``HTTPClient``.
    init(watch: @escaping (HTTPSocket, HTTPReadiness?) -> Void) { self.watch = watch }

    /// Notes that a server processed no stream behind a number of a connection.
    func noteEnd(of connection: Int, behind stream: Int) {
        // The requests of a connection end with it: the oldest ones are not asked for any more.
        if lastStreams.count > 256, let oldest = lastStreams.keys.min() { lastStreams[oldest] = nil }
        lastStreams[connection] = stream
    }

    /// Returns the last stream that the server of a connection processed; `nil`: it did not say so.
    func lastStream(of connection: Int) -> Int? { lastStreams[connection] }

    /// Watches a socket for the events that libcurl wants.
    func want(_ interest: HTTPReadiness, of number: Int32) {
        if let descriptor = open[number] { return watch(HTTPSocket(number, descriptor), interest) }
        guard interest.isEmpty else {
            // A socket that cannot be copied is not watched: the request fails by its timeout, with that message.
            if copies[number] == nil { copies[number] = try? SharedDescriptor(copying: number) }
            if let copy = copies[number] { watch(HTTPSocket(number, copy), interest) }
            return
        }
        // An empty interest precedes the close of a resolver's socket, which is not announced otherwise.
        if let copy = copies.removeValue(forKey: number) { watch(HTTPSocket(number, copy), nil) }
    }

    private func close(_ number: Int32) -> Int32 {
        guard let descriptor = open.removeValue(forKey: number) else { return Glibc.close(number) }
        // The watchers hold the descriptor; the release by the last one closes it.
        watch(HTTPSocket(number, descriptor), nil)
        return 0
    }

    /// Makes a handle's connections open and close their sockets here.
    func open(for easy: borrowing EasyHandle) throws(HTTPClientError) {
        let open: curl_opensocket_callback = { context, _, address in
            guard let context, let address else { return CURL_SOCKET_BAD }
            let kind = address.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue)
            let socket = SharedDescriptor(Glibc.socket(address.pointee.family, kind, address.pointee.protocol))
            guard let socket else { return CURL_SOCKET_BAD }
            Unmanaged<ConnectionSockets>.fromOpaque(context).takeUnretainedValue().open[socket.rawValue] = socket
            return socket.rawValue
        }
        let close: curl_closesocket_callback = { context, socket in
            guard let context else { return Glibc.close(socket) }
            return Unmanaged<ConnectionSockets>.fromOpaque(context).takeUnretainedValue().close(socket)
        }
        let context = Unmanaged.passUnretained(self).toOpaque()
        try easy.check(
            CCurl_set_socket_functions(easy.pointer, open, close, context), CURLOPT_OPENSOCKETFUNCTION)
    }
}
