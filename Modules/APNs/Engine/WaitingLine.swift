/// The pushes that wait to be written, in order, and which of them stands for which key.
///
/// Those that are sent anew go first. A newer push takes the place, and the delay, of an older one with the same key; one
/// that comes back after a newer one was taken in is not needed any more. All is O(1), except what looks at every push.
struct WaitingLine {
    /// Where a push waits.
    enum Place: Equatable {
        case nowhere
        /// Number in the line of new ones.
        case fresh(Int)
        /// Number in the line of those that are sent anew.
        case again(Int)
        /// Until its ``Push/notBefore``.
        case delayed(Int)
    }

    private struct Key {
        /// The number of the newest push; 0 once that one ended without an answer, and any may be sent.
        var newest: UInt64
        /// The one that waits.
        var waiting: Push?
        /// How many pushes with this key have not ended.
        var alive: Int
    }

    private var fresh = Line()
    private var again = Line()
    private var delayed: [Push] = []
    private var keys: [String: Key] = [:]
    /// How many pushes wait.
    private(set) var count = 0

    /// Whether one could be written now.
    var hasReady: Bool { count > delayed.count }

    /// The earliest moment when a delayed one may be written.
    var nextRelease: Duration? { delayed.lazy.compactMap(\.notBefore).min() }

    /// Takes in a new push; gives the older one that it takes the place of.
    mutating func add(_ push: Push) -> Push? {
        guard let key = push.request.replacementKey else {
            push.place = .fresh(fresh.append(push))
            count += 1
            return nil
        }
        var entry = keys[key] ?? Key(newest: 0, waiting: nil, alive: 0)
        let older = entry.waiting
        entry.newest = push.number
        entry.waiting = push
        entry.alive += 1
        keys[key] = entry
        guard let older else {
            push.place = .fresh(fresh.append(push))
            count += 1
            return nil
        }
        push.place = older.place
        push.notBefore = older.notBefore
        set(push, at: older.place)
        older.place = .nowhere
        return older
    }

    /// Takes a push back that has to be sent anew, at once or not before its ``Push/notBefore``; `false` where a newer one
    /// stands for it.
    mutating func takeBack(_ push: Push) -> Bool {
        if let key = push.request.replacementKey, var entry = keys[key] {
            if entry.newest > push.number { return false }
            // Only where a newer one has failed can another one wait: the newer of the two is kept.
            if let other = entry.waiting, other.number > push.number { return false }
            entry.waiting = push
            keys[key] = entry
        }
        if push.notBefore != nil {
            push.place = .delayed(delayed.count)
            delayed.append(push)
        } else {
            push.place = .again(again.append(push))
        }
        count += 1
        return true
    }

    /// The next push to write.
    mutating func next() -> Push? {
        guard let push = again.popFirst() ?? fresh.popFirst() else { return nil }
        left(push)
        return push
    }

    /// Takes a push out of the line that is not to be written any more.
    mutating func remove(_ push: Push) {
        guard push.place != .nowhere else { return }
        if case .delayed(let index) = push.place {
            removeDelayed(index)
        } else {
            set(nil, at: push.place)
        }
        left(push)
    }

    /// Lets those go on whose time has come.
    mutating func release(at now: Duration) {
        var index = 0
        while index < delayed.count {
            let push = delayed[index]
            guard push.notBefore.map({ $0 <= now }) ?? true else {
                index += 1
                continue
            }
            removeDelayed(index)
            push.notBefore = nil
            push.place = .again(again.append(push))
        }
    }

    /// A push has ended, wherever it was; `wasAnswered` says whether the service has it.
    mutating func ended(_ push: Push, wasAnswered: Bool) {
        guard let key = push.request.replacementKey, var entry = keys[key] else { return }
        entry.alive -= 1
        if !wasAnswered, entry.newest == push.number { entry.newest = 0 }
        if entry.waiting === push { entry.waiting = nil }
        keys[key] = entry.alive > 0 ? entry : nil
    }

    /// Every push that waits, in no order that matters.
    var all: [Push] { again.all + fresh.all + delayed }

    private mutating func left(_ push: Push) {
        push.place = .nowhere
        count -= 1
        guard let key = push.request.replacementKey, keys[key]?.waiting === push else { return }
        keys[key]?.waiting = nil
    }

    private mutating func set(_ push: Push?, at place: Place) {
        switch place {
        case .nowhere: break
        case .fresh(let number): fresh[number] = push
        case .again(let number): again[number] = push
        case .delayed(let index): if let push { delayed[index] = push }
        }
    }

    private mutating func removeDelayed(_ index: Int) {
        delayed.swapAt(index, delayed.count - 1)
        delayed.removeLast()
        if index < delayed.count { delayed[index].place = .delayed(index) }
    }
}

/// A queue whose elements can be reached by the number that they got.
private struct Line {
    private var items: [Push?] = []
    /// The number of the first item.
    private var base = 0
    /// How many at the front are gone.
    private var head = 0

    var all: [Push] { items[head...].compactMap { $0 } }

    mutating func append(_ push: Push) -> Int {
        items.append(push)
        return base + items.count - 1
    }

    mutating func popFirst() -> Push? {
        while head < items.count {
            let push = items[head]
            items[head] = nil
            head += 1
            compact()
            if let push { return push }
        }
        return nil
    }

    subscript(number: Int) -> Push? {
        get { items[number - base] }
        set { items[number - base] = newValue }
    }

    private mutating func compact() {
        if head == items.count {
            items.removeAll(keepingCapacity: true)
        } else if head >= 1024, head * 2 >= items.count {
            items.removeFirst(head)
        } else {
            return
        }
        base += head
        head = 0
    }
}
