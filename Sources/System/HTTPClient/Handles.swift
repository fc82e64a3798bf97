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

    /// libcurl wants to be told once a process.
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

/// Owns a list of header lines. They are overwritten when it goes, since one of them may be secret.
struct HeaderList: ~Copyable {
    private(set) var first: UnsafeMutablePointer<curl_slist>?

    deinit {
        var node = first
        while let current = node {
            if let line = current.pointee.data { explicit_bzero(line, strlen(line)) }
            node = current.pointee.next
        }
        curl_slist_free_all(first)
    }

    mutating func append(_ line: UnsafePointer<CChar>) throws(HTTPClientError) {
        guard let longer = curl_slist_append(first, line) else {
            throw HTTPClientError(description: "libcurl has no memory left")
        }
        first = longer
    }
}
