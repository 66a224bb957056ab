import CZlib
import Foundation

/// gzip (RFC 1952), for files that are sent many times and compressed once.
enum Gzip {
    /// - Returns: nil if zlib is out of memory.
    static func compressed(_ data: Data) -> Data? {
        var stream = z_stream()
        // Adding 16 to the largest window selects gzip's header. Its time is 0, so the same file gives the same bytes.
        guard
            deflateInit2_(
                &stream, Z_BEST_COMPRESSION, Z_DEFLATED, MAX_WBITS + 16, 9, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
                Int32(MemoryLayout<z_stream>.size)) == Z_OK
        else { return nil }
        defer { deflateEnd(&stream) }
        var input = [UInt8](data)
        var output = [UInt8](repeating: 0, count: Int(deflateBound(&stream, UInt(input.count))))
        let written: Int? = input.withUnsafeMutableBufferPointer { source in
            output.withUnsafeMutableBufferPointer { target in
                stream.next_in = source.baseAddress
                stream.avail_in = UInt32(source.count)
                stream.next_out = target.baseAddress
                stream.avail_out = UInt32(target.count)
                return deflate(&stream, Z_FINISH) == Z_STREAM_END ? Int(stream.total_out) : nil
            }
        }
        return written.map { Data(output[..<$0]) }
    }

    /// Whether a client accepts gzip (RFC 9110 section 12.5.3).
    static func isAccepted(_ acceptEncoding: String?) -> Bool {
        guard let acceptEncoding else { return false }
        var any = false
        for part in acceptEncoding.lowercased().split(separator: ",") {
            let words = part.split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces) }
            let isRefused = words.dropFirst().contains { word in
                word.hasPrefix("q=") && Double(word.dropFirst(2)) == 0
            }
            if words.first == "gzip" || words.first == "x-gzip" { return !isRefused }
            if words.first == "*" { any = !isRefused }
        }
        return any
    }
}
