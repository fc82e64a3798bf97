import CZlib

/// Decompresses bodies that a client compressed with gzip (RFC 1952), with zlib.
public enum Gzip {
    /// The reason why bytes cannot be decompressed.
    public enum Fault: Error, Hashable, Sendable {
        /// They are not gzip, or damaged.
        case malformed
        /// They end before the end of the gzip member.
        case cutOff
        /// There are bytes behind the first gzip member, such as a second one.
        case trailingBytes
        /// Their decompressed length exceeds the limit.
        case tooLong
    }

    /// Decompresses bytes. Takes no more memory than the limit, whatever the decompressed length is.
    ///
    /// - Parameters:
    ///   - bytes: one gzip member.
    ///   - limit: the longest result, in bytes.
    public static func inflate(_ bytes: [UInt8], limit: Int) throws(Fault) -> [UInt8] {
        var input = bytes
        var output = [UInt8](repeating: 0, count: limit + 1)
        var stream = z_stream()
        // 16 selects the gzip header instead of zlib's.
        guard
            inflateInit2_(&stream, 16 + MAX_WBITS, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK
        else { throw .malformed }
        defer { inflateEnd(&stream) }
        let (end, length) = input.withUnsafeMutableBufferPointer { input in
            output.withUnsafeMutableBufferPointer { output in
                (stream.next_in, stream.avail_in) = (input.baseAddress, UInt32(clamping: input.count))
                (stream.next_out, stream.avail_out) = (output.baseAddress, UInt32(clamping: output.count))
                let end = CZlib.inflate(&stream, Z_FINISH)
                return (end, output.count - Int(stream.avail_out))
            }
        }
        guard length <= limit else { throw .tooLong }
        guard end == Z_STREAM_END else { throw end == Z_BUF_ERROR || end == Z_OK ? .cutOff : .malformed }
        guard stream.avail_in == 0 else { throw .trailingBytes }
        output.removeSubrange(length...)
        return output
    }
}
