/// A fraction that goes on from where it is when there is suddenly more to do.
///
/// The raw fraction may fall: an install is added, a download begins again. What is shown then stays, and the rest of
/// the way, from there to 1, is spread over what is left of the raw one.
struct SteadyFraction: Sendable {
    private var raw = 0.0
    private var shown = 0.0
    private var rawAtFall = 0.0
    private var shownAtFall = 0.0

    /// Takes a new raw fraction and gives the one to show.
    mutating func move(to target: Double) -> Double {
        let target = min(max(target, 0), 1)
        if target < raw {
            rawAtFall = target
            shownAtFall = shown
        }
        raw = target
        let way = 1 - rawAtFall
        let done = way > 0 ? (raw - rawAtFall) / way : 1
        shown = min(max(shown, shownAtFall + (1 - shownAtFall) * done), 1)
        return shown
    }
}
