import CLinux
import Glibc
import ProcessSpawning

/// One run of ffmpeg on bytes that come from anywhere: without privileges, without a network or a disk of its own, with limits
/// for time and memory. What it reads is a file of memory, what it writes goes through a pipe.
struct PictureProcess {
    let executable: String
    let limit: Duration
    /// Of what it writes, in bytes.
    let maximumOutput: Int

    /// Blocks until it has ended.
    /// - Throws: `PictureError`.
    func run(_ arguments: [String], input: [UInt8]) throws(PictureError) -> [UInt8] {
        let source = try Self.memoryFile(input)
        defer { close(source) }
        do throws(ConfinedProcessError) {
            let process = try ConfinedProcess(
                executable: executable, arguments: ["ffmpeg"] + arguments, input: source,
                confinement: Confinement(processorSeconds: 60, addressSpace: 3 << 30))
            let result = Result { () throws(ConfinedProcessError) in
                try process.read(within: limit, maximumBytes: maximumOutput)
            }
            if !process.end(within: .seconds(1)) { process.collect() }
            return try result.get().output.copy()
        } catch {
            throw explained(error)
        }
    }

    private func explained(_ error: ConfinedProcessError) -> PictureError {
        switch error {
        case .missing:
            PictureError(
                .failed,
                "ffmpeg is not installed (\(executable)); no picture can be opened without it. Debian's package is ffmpeg."
            )
        case .tookTooLong: PictureError(.tookTooLong, "The picture could not be opened in time; add a smaller one.")
        case .tooMuchOutput: PictureError(.tooLarge, "The picture is too large; add a smaller one.")
        case .failed(_, let code): Self.failed(code)
        }
    }

    private static func memoryFile(_ bytes: [UInt8]) throws(PictureError) -> Int32 {
        let file = clinux_memory_file("picture")
        guard file >= 0 else { throw failed(-file) }
        var offset = 0
        while offset < bytes.count {
            let count = bytes.withUnsafeBytes { write(file, $0.baseAddress! + offset, $0.count - offset) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                let code = errno
                close(file)
                throw failed(code)
            }
            offset += count
        }
        lseek(file, 0, SEEK_SET)
        return file
    }

    private static func failed(_ code: Int32) -> PictureError {
        PictureError(.failed, "The picture could not be opened (\(String(cString: strerror(code)))); try again.")
    }
}
