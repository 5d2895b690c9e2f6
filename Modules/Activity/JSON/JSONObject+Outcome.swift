extension JSONObject {
    /// Adds how an install ended, as every reporter says it: `outcome`, and what belongs to it.
    package mutating func add(_ outcome: Outcome) {
        switch outcome {
        case .installed(let location):
            add("outcome", "installed")
            add("location", location)
        case .delivered(let location):
            add("outcome", "delivered")
            add("location", location)
        case .failed(let failure):
            add("outcome", "failed")
            add("message", failure.message)
            add("remedy", failure.remedy)
            add("failedStage", failure.stage.rawValue)
        case .cancelled: add("outcome", "cancelled")
        }
    }
}
