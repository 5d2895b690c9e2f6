/// How much a control server takes on.
package struct ControlLimits: Sendable {
    /// The longest archive that may be sent: 4 GiB.
    package var uploadBytes = 4 << 30
    /// How many archives may wait to be installed.
    package var uploads = 200
    /// How long one waits at the most, in seconds.
    package var uploadAge = 3_600.0
    /// How many signed archives are kept, and for how long, in seconds.
    package var archives = 100
    /// See ``archives``.
    package var archiveAge = 24.0 * 3_600
    /// The longest body of any other call.
    package var bodyBytes = 64 << 10
    /// How many calls of one token may come at once, and how many a second after that.
    package var callBurst = 1_000
    /// See ``callBurst``.
    package var callsPerSecond = 200.0
    /// How many wrong tokens may come from one address at once, and how many a second after that.
    package var failureBurst = 20
    /// See ``failureBurst``.
    package var failuresPerSecond = 0.2
    /// How old the knowledge may be that a viewer of the events still has a good token, in seconds.
    package var tokenPause = 5.0
    /// How many plans and checks are made at once.
    package var heavyCalls = 4

    /// The usual ones.
    package init() {}
}
