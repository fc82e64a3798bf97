import CCurl
import Glibc

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
