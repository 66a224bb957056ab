@testable import SealedFormats

/// Whole streams in memory, assembled from `ContentStream`'s chunks.
enum SealedContent {
    static func seal(_ content: [UInt8], with stream: ContentStream) -> [UInt8] {
        let layout = ContentStream.Layout(contentSize: UInt64(content.count), chunkSize: stream.chunkSize)
        var sealed = stream.header
        for index in 0..<UInt32(layout.chunkCount) {
            let chunk = content.dropFirst(Int(index) * stream.chunkSize.bytes).prefix(stream.chunkSize.bytes)
            sealed += stream.seal(Array(chunk), index: index, isLast: UInt64(index) + 1 == layout.chunkCount)
        }
        return sealed
    }

    static func open(_ sealed: [UInt8], name: ContentStream.Name, key: SecretBytes) throws -> [UInt8] {
        let stream = try ContentStream(
            opening: Array(sealed.prefix(ContentStream.headerLength)), name: name, key: key)
        let layout = try ContentStream.Layout(sealedSize: UInt64(sealed.count), chunkSize: stream.chunkSize)
        var content: [UInt8] = []
        for index in 0..<layout.chunkCount {
            let range = layout.range(ofChunk: index)
            content += try stream.open(
                sealed[Int(range.lowerBound)..<Int(range.upperBound)], index: UInt32(index),
                isLast: index + 1 == layout.chunkCount)
        }
        return content
    }

    /// The entries of a backup without its end.
    static func backupEntries(
        _ file: [UInt8], rootKey: SecretBytes
    ) throws -> [(kind: BackupEntry.Kind, content: [UInt8])] {
        _ = try BackupHeader(bytes: Array(file.prefix(BackupHeader.length)))
        let content = try open(
            Array(file.dropFirst(BackupHeader.length)), name: BackupHeader.streamName, key: rootKey)
        var reader = ByteReader(content, subject: "backup")
        var entries: [(kind: BackupEntry.Kind, content: [UInt8])] = []
        while true {
            let entry = try BackupEntry(header: try reader.bytes(BackupEntry.headerLength))
            guard (entry.kind == .manifest) == entries.isEmpty else { throw reader.malformed() }
            if entry.kind == .end { break }
            guard entry.length <= UInt64(reader.remaining) else { throw reader.malformed() }
            entries.append((entry.kind, try reader.bytes(Int(entry.length))))
        }
        try reader.end()
        return entries
    }
}
