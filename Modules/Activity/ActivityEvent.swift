/// What the pipeline tells an ``ActivityCenter``.
///
/// What makes no sense is passed over without a word: an event for an install that was never added or has finished, a
/// stage or a title that is already so, a hold of what is held. The pipeline need not remember what it has said.
public enum ActivityEvent: Sendable, Hashable {
    /// There is a new install; `title` is what people call it (a file's name until the app's is known).
    ///
    /// With the id of a finished install it starts that one anew.
    case added(InstallID, title: String)
    /// The app inside is known now.
    case named(InstallID, title: String, bundleID: String?, version: String?)
    /// The app's icon: a JPEG of at most ``Install/maximumIconBytes`` bytes. A longer or an empty one is passed over.
    case icon(InstallID, [UInt8])
    /// The install came to another stage; its progress starts again. ``Stage/finished`` is told by ``finished(_:_:)``.
    case stage(InstallID, Stage)
    /// What the stage does at this moment, in the words of who does it: `VerifyingApplication`. An empty one is passed over.
    case step(InstallID, String)
    /// How far the stage is. May be sent as often as one likes.
    case progress(InstallID, StageProgress)
    /// Somebody holds the install: nothing moves until it is released.
    case held(InstallID)
    /// It goes on.
    case released(InstallID)
    /// A warning that people should see.
    case note(InstallID, String)
    /// The install ended.
    case finished(InstallID, Outcome)

    /// Whose event it is.
    public var installID: InstallID {
        switch self {
        case .added(let id, _), .named(let id, _, _, _), .icon(let id, _), .stage(let id, _), .step(let id, _),
            .progress(let id, _), .held(let id), .released(let id), .note(let id, _), .finished(let id, _):
            id
        }
    }
}
