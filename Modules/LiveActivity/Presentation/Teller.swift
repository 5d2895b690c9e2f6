/// Puts a state into words, piece by piece.
struct Teller {
    let state: IslandState
    let words: IslandWords

    /// The only install of all; `nil` in a batch, and where it was shed.
    private var only: IslandState.Item? { state.totalCount == 1 ? state.items.first : nil }

    // MARK: Short

    func label(_ item: IslandState.Item) -> String {
        if item.isHeld { return words.label(.paused) }
        return switch item.stage {
        case .waiting: words.label(.waiting)
        case .downloading: item.percent.map(words.percent) ?? words.label(.download)
        case .signing: words.label(.signing)
        case .installing: words.label(.install)
        case .installed: words.label(.done)
        case .failed: words.label(.failed)
        case .stopped: words.label(.stopped)
        case .unknown: words.label(.working)
        }
    }

    var label: String {
        if state.totalCount == 0 { return "" }
        if let only { return label(only) }
        if state.totalCount > 1, !state.isFinished, !state.isHeld { return words.apps(state.totalCount) }
        return status
    }

    /// What all installs together are at.
    private var status: String {
        if let only { return label(only) }
        if state.isFinished { return words.label(ending.label) }
        if state.isHeld { return words.label(.paused) }
        if let percent = state.percent { return words.percent(percent) }
        if state.isDownloading { return words.label(.download) }
        return running.map(label) ?? words.label(.working)
    }

    /// The first install that has not ended.
    private var running: IslandState.Item? { state.items.first { !$0.stage.isFinished } }

    var compactLeading: String {
        if state.totalCount == 0 { return "" }
        if state.totalCount > 1 { return words.apps(state.totalCount) }
        return title.cut(toLetters: IslandWords.maximumLabelLetters)
    }

    var compactTrailing: String {
        if state.totalCount == 0 { return "" }
        return asksForTap ? words.label(.tap) : status
    }

    var minimal: String {
        if state.totalCount == 0 { return "" }
        if asksForTap { return words.sign(.tap) }
        if state.isFinished { return words.sign(ending.sign) }
        if state.isHeld { return words.sign(.paused) }
        if let percent = state.percent { return words.percent(percent).filter { !$0.isWhitespace }.cut(toLetters: 4) }
        if state.totalCount == 1 { return words.sign(.working) }
        return state.totalCount > 99 ? words.number(99) + "+" : words.number(state.totalCount)
    }

    /// What has ended does not change any more.
    private var asksForTap: Bool { state.needsTap && !state.isFinished }

    private var ending: (label: IslandWords.Label, sign: IslandWords.Sign, phrase: IslandWords.Phrase) {
        if state.failedCount > 0 { return (.failed, .failed, .failed) }
        return state.installedCount > 0 ? (.done, .done, .installed) : (.stopped, .stopped, .stopped)
    }

    // MARK: Long

    func name(_ item: IslandState.Item) -> String { item.title.isEmpty ? words.phrase(.app) : item.title }

    var title: String {
        switch state.totalCount {
        case 0: words.phrase(.nothing)
        case 1: only.map(name) ?? words.phrase(.app)
        case let count: words.text(.apps, count)
        }
    }

    var subtitle: String {
        if state.totalCount == 0 { return "" }
        if let only { return phrase(only) }
        if state.isFinished { return state.totalCount == 1 ? words.phrase(ending.phrase) : words.list(endings) }
        if state.isHeld { return words.phrase(.paused) }
        if state.isDownloading { return words.phrase(.downloading) }
        return running.map(phrase) ?? words.phrase(.working)
    }

    private func phrase(_ item: IslandState.Item) -> String {
        if item.isHeld { return words.phrase(.paused) }
        let phrase: IslandWords.Phrase =
            switch item.stage {
            case .waiting: .waiting
            case .downloading: .downloading
            case .signing: .signing
            case .installing: .installing
            case .installed: .installed
            case .failed: .failed
            case .stopped: .stopped
            case .unknown: .working
            }
        return words.phrase(phrase)
    }

    /// `2 installed`, `1 failed`, `1 stopped`.
    private var endings: [String] {
        [
            (IslandWords.Counted.installed, state.installedCount), (.failed, state.failedCount),
            (.stopped, state.stoppedCount),
        ]
        .filter { $0.1 > 0 }.map { words.text($0.0, $0.1) }
    }

    var bytes: String? {
        state.downloadedBytes.map { words.bytes($0, of: state.totalBytes) }
    }

    /// What the list does not show.
    private var rest: [String] {
        var parts: [String] = []
        if state.hiddenCount > 0, state.totalCount > 1 { parts.append(words.text(.more, state.hiddenCount)) }
        // In the end the subtitle says it, and of a single one the label.
        if state.failedCount > 0, !state.isFinished { parts.append(words.text(.failed, state.failedCount)) }
        return parts
    }

    var footer: String? {
        if asksForTap { return words.phrase(.tap) }
        return rest.isEmpty ? nil : words.list(rest)
    }

    var detail: String? {
        if asksForTap { return words.phrase(.tap) }
        let failures = state.failedCount > 0 && !state.isFinished ? words.text(.failed, state.failedCount) : ""
        let text = words.list([bytes ?? "", failures])
        return text.isEmpty ? nil : text
    }

    var spoken: String {
        var parts = [title, subtitle]
        if let percent = state.percent { parts.append(words.text(.percent, percent)) }
        if state.failedCount > 0, !state.isFinished { parts.append(words.text(.failed, state.failedCount)) }
        if asksForTap { parts.append(words.phrase(.tap)) }
        return words.list(parts)
    }
}
