import BlockingThread
import Glibc
import Pictures

/// The picture of an app whose desktop entry names it by its path. Any program of the user can write such an entry and
/// such a file, so this process neither waits for it nor decodes it.
enum IconFile {
    static let maximumBytes = 1 << 20
    /// Of a side, in pixels.
    static let maximumSide = 1_024

    /// The bytes of a PNG, the only type of the icon theme specification that `applocker-picture` decodes. Blocks as long
    /// as the file system does.
    static func bytes(_ path: String) -> [UInt8]? {
        // Without O_NONBLOCK, a FIFO would wait for a writer.
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size <= maximumBytes else {
            return nil
        }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while bytes.count <= maximumBytes {
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return nil }
            if count == 0 { return isSmallPNG(bytes) ? bytes : nil }
            bytes += buffer[..<count]
        }
        return nil
    }

    /// By its first chunk, which has the size (PNG third edition, 11.2.1).
    static func isSmallPNG(_ bytes: [UInt8]) -> Bool {
        guard PictureType(bytes) == .png, bytes.count >= 24, bytes[12..<16].elementsEqual("IHDR".utf8) else {
            return false
        }
        return [16, 20].allSatisfy { start in
            1...maximumSide ~= bytes[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
        }
    }
}

/// Opens icons' files, each on a thread of its own: one on a mount that hangs holds up that thread alone.
@MainActor
enum IconFiles {
    struct Pixels: Sendable {
        var width, height: Int
        /// Three bytes a pixel.
        var rgb: [UInt8]
    }

    private struct Request: Hashable {
        var path: String
        var side: Int
    }

    /// Threads at once. Where all of them hang, apps with an icon theme's icon still show theirs.
    private static let maximumThreads = 8
    private static var opening: [Request: Task<Pixels?, Never>] = [:]
    private static var threads = 0
    private static var waiting: [CheckedContinuation<Void, Never>] = []

    /// - Parameter side: most pixels of a side.
    /// - Returns: nil for what is no PNG of a permitted size.
    static func pixels(_ path: String, side: Int, _ maker: PictureMaker) async -> Pixels? {
        let request = Request(path: path, side: side)
        if let earlier = opening[request] { return await earlier.value }
        let task = Task { await read(request, maker) }
        opening[request] = task
        defer { opening[request] = nil }
        return await task.value
    }

    private static func read(_ request: Request, _ maker: PictureMaker) async -> Pixels? {
        if threads == maximumThreads {
            await withCheckedContinuation { waiting.append($0) }
        } else {
            threads += 1
        }
        let pixels = await runBlocking { () -> Pixels? in
            guard let bytes = IconFile.bytes(request.path),
                let (size, rgb) = try? maker.pixels(
                    of: bytes, fitting: PictureSize(width: request.side, height: request.side))
            else { return nil }
            return Pixels(width: size.width, height: size.height, rgb: rgb)
        }
        if waiting.isEmpty { threads -= 1 } else { waiting.removeFirst().resume() }
        return pixels
    }
}
