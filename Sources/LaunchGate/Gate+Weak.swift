import GateProtocol
import Glibc

extension Gate {
    func noticeStarted() {
        guard startWatch?.read() == true else { return }
        lookForStarted(attempt: 0)
    }

    func lookForStarted(attempt: Int) {}
}
