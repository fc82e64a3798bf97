import CZlib

/// Bodies that a client compressed with gzip (RFC 1952), by zlib.
public enum Gzip {
    /// Why bytes cannot be read.
    public enum Fault: Error, Hashable, Sendable {
        /// They are no gzip, or damaged, or cut off.
        case malformed
        /// They become longer than they may.
        case tooLong
    }

    /// Reads compressed bytes. Takes no more memory than the limit, however much they would become.
    ///
    /// - Parameters:
    ///   - bytes: one gzip member.
    ///   - limit: how many bytes they may become.
    public static func inflate(_ bytes: [UInt8], limit: Int) throws(Fault) -> [UInt8] {
        var input = bytes
        var output = [UInt8](repeating: 0, count: limit + 1)
        var stream = z_stream()
        // 16: the header of gzip, not that of zlib.
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
        guard end == Z_STREAM_END, stream.avail_in == 0 else { throw .malformed }
        output.removeSubrange(length...)
        return output
    }
}
