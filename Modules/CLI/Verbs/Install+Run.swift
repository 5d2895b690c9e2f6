import FerryActivity
import FerryBytes
import FerryPipeline
import FerryRecord
import FerrySigning

extension Install {
    static func run(_ invocation: Invocation) async throws -> ExitCode {
        let arguments = invocation.arguments
        let sources = arguments.values("SOURCE")
        // Others' servers get no token that is not theirs.
        for name in ["--sha256", "--keep", "--mirror", "--header-file", "--bearer-file"]
        where arguments.isGiven(name) && sources.count != 1 {
            throw UsageError(.invalidValue, "\(name) goes with one source.", advice: "Install them one by one.")
        }
        let options = try await invocation.signingOptions()
        guard !arguments.flag(Option.noRecord.name) else {
            let items = try await items(sources, options, invocation, isRecorded: false)
            return try await InstallRun(invocation: invocation, record: nil).run(items)
        }
        let items = try await items(sources, options, invocation, isRecorded: true)
        return try await invocation.withRecord { record in
            // The same command again goes on with what an earlier one left.
            var left = try await record.installs(all: true).filter { install in
                install.process == nil && !install.isCancelled
                    && (install.outcome == nil || install.outcome?.failure != nil)
            }
            let continued = items.map { item in
                var item = item
                if let index = left.lastIndex(where: { $0.request == item.request.recorded }) {
                    item.id = left.remove(at: index).id
                }
                return item
            }
            return try await InstallRun(invocation: invocation, record: record).run(continued)
        }
    }

    /// What is wanted of each source, as the options say it; a list is fetched once for all of them.
    static func items(
        _ sources: [String],
        _ options: SigningOptions,
        _ invocation: Invocation,
        isRecorded: Bool
    ) async throws -> [InstallRun.Item] {
        let arguments = invocation.arguments
        let target = try await TargetChoice(arguments.required("--to")).settled()
        var given = isRecorded ? try invocation.recordedOptions() : [:]
        if isRecorded, case .device = target { given["--to"] = [target.text] }
        let list = isRecorded ? try invocation.lastingList() : nil
        let headers = try invocation.downloadHeaders()
        let fingerprint = isRecorded ? try invocation.signingFingerprint(options) : nil
        return try zip(sources, await requests(sources, invocation, options)).map { source, request in
            var request = request
            request.sha256 = arguments.value("--sha256").flatMap { [UInt8](hex: $0) }
            request.mirrors = arguments.values(Option.mirror.name)
            request.headers = headers
            request.signedArchive = arguments.value("--keep")
            if isRecorded {
                request.recorded = RecordedRequest(
                    source: RecordedSource(try invocation.lastingSource(source)),
                    list: list,
                    target: given["--to"]?.first ?? target.text,
                    options: given
                )
                // The same place when it is gone on with from another folder.
                request.signedArchive = given["--keep"]?.first
                request.signingFingerprint = fingerprint
            }
            return InstallRun.Item(source: source, target: target, request: request)
        }
    }
}
