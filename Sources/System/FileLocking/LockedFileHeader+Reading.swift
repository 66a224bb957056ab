import Glibc
import SealedFormats

extension LockedFileHeader {
    /// Reads the header from the start of a file.
    /// - Returns: the header, and the offset of the stream, in bytes.
    /// - Throws: `SealedFormatsError`; `FileLockingError` if the file can't be read.
    static func read(from file: OpenFile) throws -> (header: LockedFileHeader, start: UInt64) {
        let length = fixedLength + (try envelopeLength(inFixed: try file.bytes(fixedLength)))
        return (try LockedFileHeader(bytes: try file.bytes(length)), UInt64(length))
    }
}

extension SealedContent {
    /// The content of a locked file.
    /// - Parameter start: the offset of the stream, in bytes.
    convenience init(_ header: LockedFileHeader, start: UInt64, of file: OpenFile, key: SecretBytes) throws {
        let size = try file.status().size
        try self.init(
            sealedSize: size < start ? 0 : size - start,
            name: LockedFileHeader.streamName(vault: header.vault, id: header.id), key: key
        ) { try file.read(into: $1, at: start + $0) }
    }
}

extension OpenFile {
    /// The first bytes, fewer if the file is shorter.
    func bytes(_ count: Int) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let read = try bytes.withUnsafeMutableBytes { try self.read(into: $0, at: 0) }
        return Array(bytes.prefix(read))
    }
}
