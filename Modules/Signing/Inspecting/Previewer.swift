import FerryAppBundle
import FerryBytes
import FerryCodeSignature
import FerryMachO
import FerryPropertyList
import FerryZip

/// Says what a plan will change.
struct Previewer: Sendable {
    let plan: SigningPlan
    let workers: Workers

    func run() async throws -> SigningPreview {
        let preparer = CodePreparer(
            source: plan.contents.source,
            identity: plan.request.options.identity,
            renames: plan.renames,
            pageSize: nil,
            workers: workers
        )
        // Entitlements stand at an executable's end: it must be unpacked whole.
        let source = plan.contents.source
        let signs = plan.request.options.signs
        let (signed, roles) = (plan.bundles, plan.bundles.map(plan.role))
        let entitlements = try await workers.map(
            Array(signed.indices),
            cost: { signed[$0].executable.size },
            hugeCost: Sealer.hugeCode,
            context: { Inflater() }
        ) { index, inflater -> EntitlementsPlan? in
            guard signs, roles[index].isEntitled else { return nil }
            let bytes = try signed[index].executable.bytes(in: source, inflater)
            let old = try MachOFile(bytes).slices.map { slice in
                OldSignature(slice.image, in: bytes[slice.offset..<slice.offset + slice.image.count])
            }
            return preparer.entitlements(roles[index], old: old)
        }
        let before = plan.original.bundles
        let known = Set(before.map { EntryName($0.path) })
        let after = plan.contents.tree.bundles
        let new = after.filter { !known.contains(EntryName($0.path)) }
        let later = Dictionary(after.map { (EntryName($0.path), $0) }) { one, _ in one }
        let infoPlists = Set(after.map { EntryName($0.infoPlistPath) })
        let byPath = Dictionary(zip(signed, entitlements).map { ($0.bundle.path, ($0, $1)) }) { one, _ in one }
        return SigningPreview(
            path: plan.request.shownInput,
            bundles: before.map { bundle in
                let later = later[EntryName(bundle.path)]
                let isDropped = later == nil || plan.drops(bundle.path)
                return preview(bundle, later ?? bundle, byPath[bundle.path], isNew: false, isDropped: isDropped)
            } + new.map { preview($0, $0, byPath[$0.path], isNew: true, isDropped: false) },
            addedFiles: files { $0.entry == nil },
            changedFiles: files { $0.entry != nil && $0.newContent != nil && !infoPlists.contains(EntryName($0.name)) },
            removedFiles: (plan.overlay.removed.map(\.text) + plan.dropped).sorted(),
            changedCode: plan.overlay.codeEdits.keys.map(\.text).sorted(),
            warnings: plan.warnings
        )
    }

    private func files(_ isMeant: (ArchiveFile) -> Bool) -> [String] {
        plan.contents.files.filter { isMeant($0) && !plan.isLeftOut($0) }.map(\.name).sorted()
    }

    private func preview(
        _ old: Bundle,
        _ new: Bundle,
        _ signed: (bundle: SigningPlan.CodeBundle, entitlements: EntitlementsPlan?)?,
        isNew: Bool,
        isDropped: Bool
    ) -> SigningPreview.Bundle {
        let info =
            signed?.bundle.infoPlist.flatMap { try? InfoPlist(bytes: $0, path: new.infoPlistPath) }?.dictionary
            ?? new.info.dictionary
        return SigningPreview.Bundle(
            path: old.path,
            kind: old.kind.rawValue,
            oldIdentifier: isNew ? nil : old.identifier,
            identifier: isDropped ? nil : signed?.bundle.identifier,
            isNew: isNew,
            isDropped: isDropped,
            profile: isDropped ? nil : signed?.bundle.profile?.name,
            infoPlist: isDropped || isNew ? [] : old.info.dictionary.changes(to: info),
            entitlements: signed?.entitlements?.entitlements,
            droppedEntitlements: signed?.entitlements?.dropped ?? [:],
            warnings: signed?.entitlements?.warnings ?? []
        )
    }
}

extension SigningPlan {
    /// Whether a bundle is left out for its identifier.
    func drops(_ path: String) -> Bool {
        dropped.contains { Overlay.isAtOrBelow(path, $0) }
    }
}
