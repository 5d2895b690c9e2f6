import TestKit

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

func usleepMilliseconds(_ count: UInt32) {
    usleep(count * 1000)
}

func shutdownWriting(_ descriptor: Int32) -> Int32 {
    shutdown(descriptor, Int32(SHUT_WR))
}

extension Socket {
    /// Whether the other side has closed; waits for nothing.
    var isEnded: Bool {
        var byte: UInt8 = 0
        return recv(descriptor, &byte, 1, Int32(MSG_DONTWAIT) | Int32(MSG_PEEK)) == 0
    }
}
