public import FerryBytes

extension ZipDirectory {
    /// What a symbolic link of the archive points to, as it is stored.
    public func linkTarget(of entry: ZipEntry, in source: some ByteSource) throws(ZipError) -> String {
        try linkTarget(of: entry, in: source, inflater: Inflater(), limits: .standard)
    }

    /// Refuses links that lead out of their place: out of `Payload/NAME.app` for what lies in one, else out of the first
    /// folder of their path.
    ///
    /// A target is followed as the system would, through other links of the archive, and may leave nowhere on the way.
    /// That nothing lies *beneath* a link
    /// was checked when the directory was read.
    public func checkLinks(in source: some ByteSource, limits: ZipLimits = .standard) throws(ZipError) {
        let links = entries.filter(\.isSymbolicLink)
        guard !links.isEmpty else { return }
        let inflater = Inflater()
        var targets: [Int: String] = [:]
        for link in links {
            targets[link.index] = try linkTarget(of: link, in: source, inflater: inflater, limits: limits)
        }
        for link in links {
            try check(link, targets: targets)
        }
    }

    private func linkTarget(
        of entry: ZipEntry,
        in source: some ByteSource,
        inflater: Inflater,
        limits: ZipLimits
    ) throws(ZipError) -> String {
        guard entry.isSymbolicLink else {
            throw ZipError(.malformed, entry: entry.name, "The entry is no symbolic link.")
        }
        guard entry.uncompressedSize <= limits.linkTargetBytes else {
            throw ZipError(
                .limit,
                entry: entry.name,
                "The target of the symbolic link has \(entry.uncompressedSize) bytes, more than \(limits.linkTargetBytes)."
            )
        }
        let bytes = try inflater.contents(of: entry, in: source)
        guard let target = String(validating: bytes, as: UTF8.self), !bytes.isEmpty, !bytes.contains(0) else {
            throw ZipError(.malformed, entry: entry.name, "The target of the symbolic link is no path.")
        }
        return target
    }

    /// More links than this in one path are a loop; Linux stops there too.
    private static var followedLinks: Int { 40 }
    /// More parts than this are walked for no link, its own path and all targets on the way together.
    private static var steps: Int { 4096 }

    private func check(_ link: ZipEntry, targets: [Int: String]) throws(ZipError) {
        let parts = link.name.pathParts
        let topCount = parts.count < 2 ? 0 : parts[0] == "Payload" && parts.count > 2 ? 2 : 1
        let top = parts[..<topCount]
        func escape(_ end: String) -> ZipError {
            let place = topCount == 0 ? "the archive" : ZipError.shown(top.joined(separator: "/"))
            let target = ZipError.shown(targets[link.index] ?? "")
            return ZipError(.escapingLink, entry: link.name, "The symbolic link to \(target) \(end) \(place).")
        }

        /// What is still to be walked, the next part last.
        var ahead = Array(parts.reversed())
        var place: [(name: String, node: PathTree.Place?)] = []
        var followed = 0
        var steps = 0
        while let part = ahead.popLast() {
            steps += 1
            guard steps <= Self.steps else { throw escape("takes too many steps within") }
            switch part {
            case ".": continue
            case "..":
                guard !place.isEmpty else { throw escape("leads out of") }
                place.removeLast()
            default:
                place.append((part, tree.child(part, of: place.isEmpty ? .root : place[place.count - 1].node)))
            }
            // The way down to the link itself is no escape yet; whatever comes after must stay below the top.
            if followed > 0, !place.lazy.map(\.name).starts(with: top) { throw escape("leads out of") }
            guard part != "..", let node = place.last?.node, let index = tree.index(at: node),
                let target = targets[index]
            else { continue }
            followed += 1
            guard followed <= Self.followedLinks else { throw escape("goes in circles within") }
            guard target.utf8.first != UInt8(ascii: "/") else { throw escape("leads out of") }
            place.removeLast()
            ahead += target.pathParts.reversed()
        }
    }
}
