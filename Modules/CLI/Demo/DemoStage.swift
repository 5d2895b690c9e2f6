import FerryAppBundle
import FerryBytes
import FerryCodeSignature
import FerrySample
import FerrySigning

/// Everything that the demo makes before it begins: who published the app, who signs it anew, and the app itself.
struct DemoStage: Sendable {
    /// The identifier that the app is published under.
    static let publishedIdentifier = "com.example.harbour"
    /// The one that it gets.
    static let newIdentifier = "net.example.pier"
    private static let password = Secret("demo")

    /// The app as its developer published it, signed by them.
    let published: String
    /// With what it is signed anew.
    let options: SigningOptions
    /// The names of the files that were made, for those who want to try things with them.
    let identityFile: String
    let profileFiles: [String]

    /// Makes all of it in `folder`.
    ///
    /// - Parameter now: the date, in seconds since 1970.
    static func make(in folder: String, signer: Signer, now: Int64) async throws -> DemoStage {
        // An hour back: a certificate that begins this very second is not valid yet for clocks that go after ours.
        let (begin, end) = (now - 3600, now + 365 * 86400)
        let developer = try ThrowawayIdentity(
            team: "HARBOURDEV",
            commonName: "Apple Distribution: Harbour Works (HARBOURDEV)",
            purpose: .distribution,
            notBefore: begin,
            notAfter: end
        )
        let mine = try ThrowawayIdentity(keyKind: .rsa2048, notBefore: begin, notAfter: end)

        var app = SampleApp()
        app.approximateBytes = 6 << 20
        let bare = folder + "/unsigned.ipa"
        try app.write(to: bare)
        let published = folder + "/Harbour.ipa"
        let theirs = try profile(
            "Harbour Store",
            "*",
            developer,
            now,
            groups: ["group.com.example.harbour"],
            aps: "production"
        )
        _ = try await signer.sign(
            SigningRequest(
                input: bare,
                output: published,
                options: SigningOptions(identity: try identity(developer), profiles: [theirs])
            )
        ).archive
        removeFile(bare)

        // One for the app alone, one for everything else: each bundle gets what fits it best.
        let profiles = [
            try profile("Pier App", newIdentifier, mine, now, groups: ["group.net.example.pier"], aps: nil),
            try profile("Pier Wildcard", "net.example.*", mine, now, groups: [], aps: nil),
        ]
        let identityFile = folder + "/identity.p12"
        try WholeFile.write(try mine.p12(password: password), to: identityFile)
        try WholeFile.write(Array((password.revealed + "\n").utf8), to: folder + "/password.txt")
        let profileFiles = try profiles.map { profile in
            let path = folder + "/" + profile.name.replacing(" ", with: "-") + ".mobileprovision"
            try WholeFile.write(profile.bytes, to: path)
            return path
        }
        var options = SigningOptions(identity: try identity(mine), profiles: profiles)
        options.bundleIdentifier = newIdentifier
        return DemoStage(
            published: published,
            options: options,
            identityFile: identityFile,
            profileFiles: profileFiles
        )
    }

    private static func identity(_ throwaway: ThrowawayIdentity) throws -> Identity {
        try Identity(pkcs12: try throwaway.p12(password: password), password: password)
    }

    private static func profile(
        _ name: String,
        _ pattern: String,
        _ identity: ThrowawayIdentity,
        _ now: Int64,
        groups: [String],
        aps: String?
    ) throws -> ProvisioningProfile {
        let sample = SampleProfile(
            name: name,
            appIDPattern: pattern,
            team: identity.team,
            certificates: [identity.leafDER],
            devices: ["00008110-000000000000001E"],
            creation: now - 3600,
            expiration: now + 360 * 86400,
            allowsDebugging: aps == nil,
            appGroups: groups,
            apsEnvironment: aps
        )
        return try ProvisioningProfile(bytes: try sample.signed(by: identity.authority))
    }
}
