import FerryBytes

/// The load commands of an image while ``LibraryEdit``s are made to them.
struct LibraryEditor {
    /// A load command, as it was or as it will be.
    private struct Command {
        var number: UInt32
        var bytes: [UInt8]
        /// The library that it loads, if it loads one.
        var library: MachOImage.Library?
        /// Whether it was added here, so that no symbol can be bound to it.
        var isNew = false
    }

    /// How many load commands an image may have to be edited; real ones have below 500.
    static let commandLimit = 10_000

    private let image: MachOImage
    private let header: ArraySlice<UInt8>
    private let use: LibraryUse?
    private var commands: [Command]
    /// The last number that was tried for a stand-in whose own was taken.
    private var spareNumber: Int

    init(_ image: MachOImage, _ header: ArraySlice<UInt8>, _ use: LibraryUse?) throws {
        guard image.loadCommands.count <= Self.commandLimit else {
            throw MachOError.tooLarge("\(image.loadCommands.count) load commands are more than \(Self.commandLimit).")
        }
        self.image = image
        self.header = try ByteReader(header).bytes(at: 0, count: image.commandsEnd)
        self.use = use
        spareNumber = image.libraries.count
        let reader = ByteReader(header)
        commands = try image.loadCommands.map { command in
            Command(number: command.number, bytes: Array(try reader.bytes(at: command.offset, count: command.size)))
        }
        for library in image.libraries { commands[library.commandIndex].library = library }
    }

    mutating func make(_ edit: LibraryEdit) throws(MachOError) -> EditedHeader.Outcome {
        switch edit {
        case .add(let path, let isWeak): try add(path, isWeak: isWeak)
        case .remove(let name): try remove(matches(name))
        case .rename(let name, let path): try rename(matches(name), to: path)
        case .addRPath(let path): try addRPath(path)
        case .removeRPath(let path): removeRPath(path)
        case .setInstallName(let path): try setInstallName(path)
        }
    }

    /// The new header, if its growth is at most `room`.
    func finish(_ outcomes: [EditedHeader.Outcome], room: Int) throws(MachOError) -> EditedHeader {
        let old = image.commandsEnd - image.headerSize
        let new = commands.reduce(0) { $0 + $1.bytes.count }
        guard new <= old || new - old <= room else {
            throw MachOError(
                .headerFull,
                "the new load commands need \(new - old - room) bytes more than the \(room) that are free in the header.",
                remedy: "Choose shorter names, change less, or link the code with more header padding "
                    + "(-headerpad 0x1000)."
            )
        }
        // The room is less than the image, whose header says its size in 32 bits; so is the number of commands.
        var bytes = Array(header.prefix(image.headerSize))
        bytes.store(UInt32(truncatingIfNeeded: commands.count), at: 16, .little)
        bytes.store(UInt32(truncatingIfNeeded: new), at: 20, .little)
        for command in commands { bytes += command.bytes }
        bytes += [UInt8](repeating: 0, count: max(0, old - new))
        return EditedHeader(bytes: bytes, outcomes: outcomes, isChanged: !bytes.elementsEqual(header))
    }

    // MARK: Libraries

    private mutating func add(_ path: String, isWeak: Bool) throws(MachOError) -> EditedHeader.Outcome {
        let bytes = try checked(path)
        guard !isLoaded(bytes) else { return .alreadyThere }
        let kind: MachOImage.Library.Kind = isWeak ? .weak : .regular
        // The timestamp is the one that linkers write; of versions, zero asks for none.
        try append(kind.command, words: [2, 0, 0], path: bytes)
        return .done
    }

    private func matches(_ name: String) -> [Int] {
        commands.indices.filter { index in
            guard let library = commands[index].library else { return false }
            return MachOImage.Library.name(name, means: library.pathBytes) && !isStandIn(library)
        }
    }

    private func isLoaded(_ path: [UInt8]) -> Bool {
        commands.contains { $0.library?.pathBytes == path }
    }

    private mutating func remove(_ places: [Int]) throws(MachOError) -> EditedHeader.Outcome {
        guard !places.isEmpty else { return .notFound }
        var outcome = EditedHeader.Outcome.done
        // From the last to the first: what is removed must not move what is still to be removed.
        for place in places.reversed() {
            switch (outcome, try remove(at: place)) {
            case (.standIn(let some), .standIn(let more)):
                outcome = .standIn(symbols: some.flatMap { some in more.map { (some + $0).sorted() } })
            case (_, .standIn(let symbols)): outcome = .standIn(symbols: symbols)
            default: break
            }
        }
        return outcome
    }

    /// Removes a library's command, or puts a stand-in there.
    private mutating func remove(at place: Int) throws(MachOError) -> EditedHeader.Outcome {
        guard let ordinal = ordinal(at: place), !commands[place].isNew else {
            commands.remove(at: place)
            return .done
        }
        // The loader refuses code linked since 2025 that loads nothing at all.
        let isOnly = !commands.indices.contains { $0 != place && self.ordinal(at: $0) != nil }
        if let use, use.highestOrdinal < ordinal, !isOnly {
            commands.remove(at: place)
            return .done
        }
        let path = standInPath(for: ordinal)
        commands[place] = try command(MachOImage.Library.Kind.weak.command, words: [2, 0, 0], path: path)
        return .standIn(symbols: use.map { $0.symbols[ordinal, default: []].sorted() })
    }

    private mutating func rename(_ places: [Int], to path: String) throws(MachOError) -> EditedHeader.Outcome {
        let bytes = try checked(path)
        let others = places.filter { commands[$0].library?.pathBytes != bytes }
        guard let first = others.first else { return places.isEmpty ? .notFound : .alreadyThere }
        // Of several with one name, and of one that bears the new name already, just one can have it.
        let rivals = Array(commands.indices.filter { commands[$0].library?.pathBytes == bytes } + others.dropFirst())
        var kept = first
        if !rivals.isEmpty {
            let all = ([first] + rivals).sorted()
            let bound = all.filter { isBound($0) }
            guard bound.count <= 1 else {
                throw MachOError(
                    .duplicateLibrary,
                    "\(bound.count) libraries that symbols are bound to would all be loaded as \(path.printable).",
                    remedy: "No library may be loaded twice; give one of them another name."
                )
            }
            kept = bound.first ?? all[0]
        }
        if commands[kept].library?.pathBytes != bytes { try setPath(of: kept, to: bytes) }
        for place in ([first] + rivals).sorted().reversed() where place != kept { _ = try remove(at: place) }
        return .done
    }

    private func isBound(_ place: Int) -> Bool {
        guard let ordinal = ordinal(at: place), !commands[place].isNew else { return false }
        return use.map { $0.count(of: ordinal) > 0 } ?? true
    }

    /// The number that bindings know the library by: the loader counts each but lazy ones.
    private func ordinal(at place: Int) -> Int? {
        guard let library = commands[place].library, library.kind != .lazy else { return nil }
        return commands[...place].count { $0.library.map { $0.kind != .lazy } ?? false }
    }

    /// Searched in the folders of `@rpath` as any other weak library that an older system lacks, and found in none. Each
    /// has a number of its own, its library's where that is free, as the loader takes no name twice.
    static let standInPrefix = "@rpath/removed."

    /// A name for the stand-in of the library with an ordinal, which nothing has yet.
    private mutating func standInPath(for ordinal: Int) -> [UInt8] {
        func path(_ number: Int) -> [UInt8] { Array((Self.standInPrefix + String(number)).utf8) }
        var number = ordinal
        while isLoaded(path(number)) {
            // Past all ordinals, and never back: thousands of names may be taken.
            spareNumber += 1
            number = spareNumber
        }
        return path(number)
    }

    private func isStandIn(_ library: MachOImage.Library) -> Bool {
        library.pathBytes.starts(with: Self.standInPrefix.utf8)
    }

    // MARK: Other names

    private mutating func addRPath(_ path: String) throws(MachOError) -> EditedHeader.Outcome {
        let bytes = try checked(path)
        guard rpaths(bytes).isEmpty else { return .alreadyThere }
        try append(MachOImage.Library.rpathCommand, words: [], path: bytes)
        return .done
    }

    private mutating func removeRPath(_ path: String) -> EditedHeader.Outcome {
        let places = rpaths(Array(path.utf8))
        for place in places.reversed() { commands.remove(at: place) }
        return places.isEmpty ? .notFound : .done
    }

    private func rpaths(_ path: [UInt8]) -> [Int] {
        commands.indices.filter { place in
            commands[place].number == MachOImage.Library.rpathCommand && name(at: place) == path
        }
    }

    private mutating func setInstallName(_ path: String) throws(MachOError) -> EditedHeader.Outcome {
        let bytes = try checked(path)
        // One is usual. Of several nobody says which counts, so they get the same name.
        let places = commands.indices.filter { commands[$0].number == MachOImage.Library.idCommand }
        guard !places.isEmpty else { return .notFound }
        let others = places.filter { name(at: $0) != bytes }
        for place in others { try setPath(of: place, to: bytes) }
        return others.isEmpty ? .alreadyThere : .done
    }

    // MARK: Writing commands

    private func name(at place: Int) -> [UInt8]? {
        try? MachOImage.Library.name(in: ByteReader(commands[place].bytes))
    }

    private func checked(_ path: String) throws(MachOError) -> [UInt8] {
        let bytes = Array(path.utf8)
        guard !bytes.isEmpty, bytes.count <= LibraryEdit.pathLimit, !bytes.contains(0) else {
            throw MachOError(
                .badName,
                "\(path.isEmpty ? "an empty name" : "the name “\(path.prefix(40).printable)”") of \(bytes.count) bytes "
                    + "cannot stand in a load command.",
                remedy: "Give a name of 1 to \(LibraryEdit.pathLimit) bytes without a zero byte."
            )
        }
        return bytes
    }

    /// Puts another path into a command that has one, whatever else lies before it.
    private mutating func setPath(of place: Int, to path: [UInt8]) throws(MachOError) {
        let old = commands[place].bytes
        guard let start = try? ByteReader(old).integer(at: 8, as: UInt32.self, .little), Int(start) <= old.count else {
            throw .malformed("a library's name lies outside its load command.")
        }
        let command = Array(old.prefix(Int(start)))
        commands[place].bytes = try sized(command + path + [0])
        if commands[place].library != nil {
            commands[place].library = try parsed(commands[place])
        }
    }

    private mutating func append(_ number: UInt32, words: [UInt32], path: [UInt8]) throws(MachOError) {
        var command = try command(number, words: words, path: path)
        command.isNew = true
        commands.append(command)
    }

    private func command(_ number: UInt32, words: [UInt32], path: [UInt8]) throws(MachOError) -> Command {
        var bytes: [UInt8] = []
        bytes.append(number, .little)
        bytes.append(UInt32(0), .little)
        bytes.append(UInt32(12 + 4 * words.count), .little)
        for word in words { bytes.append(word, .little) }
        var command = Command(number: number, bytes: try sized(bytes + path + [0]))
        if MachOImage.Library.Kind(command: number) != nil { command.library = try parsed(command) }
        return command
    }

    /// A command filled up to the next multiple of 8 bytes, or 4 in 32-bit code, with its size in its second word.
    private func sized(_ command: [UInt8]) throws(MachOError) -> [UInt8] {
        var command = command
        command.pad(to: image.is64Bit ? 8 : 4)
        guard let size = UInt32(exactly: command.count) else {
            throw .tooLarge("a load command would have \(command.count) bytes.")
        }
        command.store(size, at: 4, .little)
        return command
    }

    /// The library that a command loads; its number is told by its place, see ``ordinal(at:)``.
    private func parsed(_ command: Command) throws(MachOError) -> MachOImage.Library {
        let body = ByteReader(command.bytes)
        guard let library = try? MachOImage.Library(command.number, at: 0, body, ordinal: 0) else {
            throw .malformed("a library's name lies outside its load command.")
        }
        return library
    }
}
