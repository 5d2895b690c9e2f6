import FerryPropertyList

extension [AppSource.Version] {
    /// The same versions, the newest first.
    ///
    /// A source is to list the newest first, and where its dates fall along the list and never rise, its order is believed:
    /// its author knows best, also after a change of how versions are numbered. Any other list is put in the order of the
    /// version, the build, the date, and the place.
    func newestFirst() -> [AppSource.Version] {
        let dates = compactMap { $0.date?.secondsSince1970 }
        let pairs = zip(dates, dates.dropFirst())
        if pairs.contains(where: { $0 > $1 }), pairs.allSatisfy({ $0 >= $1 }) { return self }
        let numbered = enumerated().map { place, version in
            (
                place: place, version: version, number: VersionNumber(version.version),
                build: VersionNumber(version.build ?? ""), date: version.date?.secondsSince1970 ?? 0
            )
        }
        return numbered.sorted { one, other in
            if one.number != other.number { return one.number > other.number }
            if one.build != other.build { return one.build > other.build }
            if one.date != other.date { return one.date > other.date }
            return one.place < other.place
        }.map(\.version)
    }
}
