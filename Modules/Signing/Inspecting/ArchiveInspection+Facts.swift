import FerryPropertyList

extension ArchiveInspection.Image {
    /// What its load commands and its signature say, by the names of its JSON form; but for what differs in every build and
    /// every signature, its `cdHash` and date.
    var facts: PropertyList.Dictionary {
        var facts: PropertyList.Dictionary = ["isEncrypted": .boolean(isEncrypted), "kind": .string(kind)]
        facts["minimumOS"] = minimumOS.map { .string($0) }
        facts["platform"] = platform.map { .string($0) }
        facts["dylibs"] = .array(dylibs.map { .string($0) })
        facts["rpaths"] = .array(rpaths.map { .string($0) })
        facts["signature"] = .dictionary(signature?.facts ?? [:])
        return facts
    }
}

extension ArchiveInspection.Signature {
    fileprivate var facts: PropertyList.Dictionary {
        var facts: PropertyList.Dictionary = [
            "identifier": .string(identifier), "hashes": .array(hashes.map { .string($0) }),
            "pageSize": .integer(Int64(pageSize)), "version": .string(version),
            "flags": .array(flags.map { .string($0) }),
            "isAdHoc": .boolean(isAdHoc),
        ]
        facts["team"] = team.map { .string($0) }
        facts["signer"] = signer.map { .string($0) }
        return facts
    }
}

extension ArchiveInspection.Profile {
    /// What it says, by the names of its JSON form.
    var facts: PropertyList.Dictionary {
        var facts: PropertyList.Dictionary = [
            "name": .string(name), "uuid": .string(uuid), "kind": .string(kind), "team": .string(team),
            "applicationIdentifier": .string(applicationIdentifier),
        ]
        facts["expires"] = expires.map { .string($0) }
        facts["deviceCount"] = deviceCount.map { .integer(Int64($0)) }
        return facts
    }
}
