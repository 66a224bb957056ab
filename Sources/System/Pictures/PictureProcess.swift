import CLinux
import Glibc
import ProcessSpawning

/// One run of `applocker-picture` on bytes that come from anywhere: without privileges, with limits for time and memory,
/// and in a sandbox without files and network. What it reads is a file of memory, what it writes goes through a pipe.
struct PictureProcess {
    let executable: String
    let limit: Duration
    /// Of what it writes, in bytes.
    let maximumOutput: Int

    /// Blocks until it has ended.
    /// - Throws: `PictureError`.
    func run(_ command: String, _ type: PictureType, _ arguments: [Int], input: [UInt8]) throws(PictureError) -> [UInt8]
    {
        let source = try Self.memoryFile(input)
        defer { close(source) }
        let (output, errors): ([UInt8], [UInt8])
        do throws(ConfinedProcessError) {
            let process = try ConfinedProcess(
                executable: executable,
                arguments: ["applocker-picture", command, type.format] + arguments.map(String.init),
                input: source, confinement: Confinement(processorSeconds: 60, addressSpace: 3 << 30))
            let result = Result { () throws(ConfinedProcessError) in
                try process.read(within: limit, maximumBytes: maximumOutput)
            }
            if !process.end(within: .seconds(1)) { process.collect() }
            let (made, reason) = try result.get()
            (output, errors) = (made.copy(), reason)
        } catch {
            throw explained(error)
        }
        guard errors.isEmpty else { throw PictureError(reason: String(decoding: errors, as: UTF8.self), type) }
        return output
    }

    private func explained(_ error: ConfinedProcessError) -> PictureError {
        switch error {
        case .missing:
            PictureError(.failed, "\(executable), which opens pictures, is missing; install AppLocker again.")
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
