public import FerryActivity
import FerryDownload
import FerryRecord

extension InstallPipeline {
    /// Holds an install where it is: a download stops, and a later stage does not begin.
    public func hold(_ id: InstallID) async {
        await order(.hold, [id])
    }

    /// Lets a held install go on.
    public func release(_ id: InstallID) async {
        await order(.release, [id])
    }

    /// Holds every install that has not ended.
    public func holdAll() async {
        await order(.hold, unfinished())
    }

    /// Lets every held install go on.
    public func releaseAll() async {
        await order(.release, unfinished())
    }

    /// Ends an install, wherever it is; one that is being put in place ends when it stands or when it does not.
    ///
    /// With a record its files go; without one, what of a download has arrived is kept for the next time.
    public func cancel(_ id: InstallID) {
        end(id, .cancelled)
    }

    /// Notes that the app of an install that was delivered has reported that it runs.
    public func confirm(_ id: InstallID) async {
        let outcome = Outcome.installed(location: await center.activity[id]?.outcome?.location)
        // Who has seen it end sees this too; where it was forgotten, there is nothing to tell.
        try? await record?.write(.finished(outcome), of: id)
        await center.send(.finished(id, outcome))
    }

    /// Ends every install.
    public func cancelAll() {
        for id in Array(jobs.keys) { end(id, .cancelled) }
    }

    /// Stops every install where it is, for another process to go on with; without a record, that is their end.
    public func interruptAll() {
        for id in Array(jobs.keys) { end(id, .interrupted) }
    }

    func end(_ id: InstallID, _ ending: Ending) {
        guard jobs[id] != nil else { return }
        if jobs[id]?.ending != .cancelled { jobs[id]?.ending = ending }
        jobs[id]?.task?.cancel()
        jobs[id]?.stop?()
        open(id)
    }

    func open(_ id: InstallID) {
        jobs[id]?.gate?.resume()
        jobs[id]?.gate = nil
    }

    /// Reads from the record what others have ordered since.
    func obeyRecord() async {
        guard let record, !jobs.isEmpty else { return }
        // Where it cannot be read now, it will be at the next change.
        guard let standings = try? await record.standings(Array(jobs.keys)) else { return }
        for (id, standing) in standings { await obey(standing, id) }
    }

    /// Writes an order into the record, where there is one, and obeys it.
    ///
    /// In this order: what is in the record counts for the next process, and its number tells an older order from a newer.
    private func order(_ order: InstallOrder, _ ids: [InstallID]) async {
        let ids = ids.filter { jobs[$0] != nil }
        guard let record, !ids.isEmpty else {
            for id in ids { await setHeld(order == .hold, id) }
            return
        }
        do throws(RecordError) {
            let standings = try await record.order(order, ids)
            for id in ids {
                if let standing = standings[id] { await obey(standing, id) }
            }
        } catch {
            // It counts in this process all the same.
            for id in ids {
                await setHeld(order == .hold, id)
                await note(error, id)
            }
        }
    }

    private func obey(_ standing: Standing, _ id: InstallID) async {
        guard let job = jobs[id], standing.revision > job.revision else { return }
        jobs[id]?.revision = standing.revision
        if standing.isCancelled {
            end(id, .cancelled)
        } else {
            await setHeld(standing.isHeld, id)
        }
    }

    private func setHeld(_ isHeld: Bool, _ id: InstallID) async {
        guard let job = jobs[id], job.isHeld != isHeld else { return }
        jobs[id]?.isHeld = isHeld
        await center.send(isHeld ? .held(id) : .released(id))
        await tellDownload(id)
        if jobs[id]?.isHeld == false { open(id) }
    }

    /// Tells the download what holds now, whatever came in between.
    func tellDownload(_ id: InstallID) async {
        var told: Bool?
        while let job = jobs[id], let download = job.download, told != job.isHeld {
            told = job.isHeld
            jobs[id]?.hasOrders = true
            if job.isHeld {
                await downloader.hold(download)
            } else {
                await downloader.release(download)
            }
        }
    }

    /// Tells people that the record could not be written.
    func note(_ error: RecordError, _ id: InstallID) async {
        await center.send(.note(id, "After a restart, this install begins again: \(error.message)"))
    }

    private func unfinished() async -> [InstallID] {
        await center.activity.unfinished.map(\.id)
    }
}
