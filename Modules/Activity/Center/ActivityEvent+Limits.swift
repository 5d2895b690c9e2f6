extension ActivityEvent {
    /// How long a title, a note or a message may be, in bytes of UTF-8. Longer ones are cut between letters.
    static let maximumTextBytes = 4_096

    /// The same event with its texts cut to their limit.
    var limited: ActivityEvent {
        switch self {
        case .added(let id, let title): .added(id, title: title.limited)
        case .named(let id, let title, let bundleID, let version):
            .named(id, title: title.limited, bundleID: bundleID?.limited, version: version?.limited)
        case .step(let id, let text): .step(id, text.limited)
        case .note(let id, let text): .note(id, text.limited)
        case .finished(let id, .failed(let failure)):
            .finished(
                id,
                .failed(
                    Failure(message: failure.message.limited, remedy: failure.remedy?.limited, stage: failure.stage)
                )
            )
        case .icon, .stage, .progress, .held, .released, .finished: self
        }
    }
}

extension String {
    fileprivate var limited: String {
        guard utf8.count > ActivityEvent.maximumTextBytes else { return self }
        var kept = ""
        var room = ActivityEvent.maximumTextBytes - 3
        for character in self {
            room -= character.utf8.count
            guard room >= 0 else { break }
            kept.append(character)
        }
        return kept + "…"
    }
}
