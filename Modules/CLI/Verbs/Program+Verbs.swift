extension Program {
    /// `ferry`.
    static let ferry = Program(
        name: "ferry",
        version: "0.1.0",
        summary: "carry an app from where it is published to a device, and show how far it is",
        verbs: [
            Install.verb, Jobs.verb, Orders.hold, Orders.release, Orders.cancel, Resume.verb, Serve.verb,
            Token.verb, Token.add, Token.remove, Token.list, Sign.verb, Download.verb,
            SourceVerb.verb, SourceVerb.add, SourceVerb.remove, SourceVerb.list, UpdatesVerb.verb, Devices.verb,
            Apps.verb, Uninstall.verb, Inspect.verb,
            Verify.verb, IdentityVerb.verb, ProfileVerb.verb, CacheVerb.verb, Island.verb, Push.verb, Bench.verb,
            BenchAPNs.verb, BenchDownload.verb, BenchServe.verb, Demo.verb, Completion.verb, Help.verb,
        ]
    )
}
