import CLinux
import Glibc

/// The cameras of this computer: what the kernel shows as /dev/video0, /dev/video1, ...
enum CameraDevices {
    /// The one with the lowest number that pictures can be taken with. Opens each in turn; may wait for a driver.
    static func first(
        in directory: String = "/dev", captures: (_ path: String) -> Bool = { clinux_captures_video($0) == 0 }
    ) -> String? {
        guard let listing = opendir(directory) else { return nil }
        defer { closedir(listing) }
        var numbers: [Int] = []
        while let entry = readdir(listing) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
            }
            if name.hasPrefix("video"), let number = Int(name.dropFirst(5)), name == "video\(number)" {
                numbers.append(number)
            }
        }
        return numbers.sorted().lazy.map { "\(directory)/video\($0)" }.first(where: captures)
    }

    /// The group that may use the device beside its owner; nil where that is root's, which opens far more than a camera.
    static func group(of path: String) -> gid_t? {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFCHR, status.st_gid != 0 else { return nil }
        return status.st_gid
    }
}
