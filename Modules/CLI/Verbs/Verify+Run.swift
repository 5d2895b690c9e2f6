import FerryAppBundle
import FerryBytes
import FerryCodeSignature
import FerrySigning

extension Verify {
    /// What `--json` prints.
    struct Report: Encodable {
        struct Fault: Encodable {
            let code: String
            let place: String
            let message: String
            let remedy: String?
            let systemAnswer: String?
            let isWarning: Bool
        }

        let path: String
        let isRight: Bool
        let faults: [Fault]

        init(_ path: String, _ faults: [FerryCodeSignature.Fault]) {
            self.path = path
            isRight = faults.allSatisfy(\.isWarning)
            self.faults = faults.map { fault in
                Fault(
                    code: fault.code.rawValue,
                    place: fault.place,
                    message: fault.message,
                    remedy: fault.remedy,
                    systemAnswer: fault.systemAnswer,
                    isWarning: fault.isWarning
                )
            }
        }
    }

    static func run(_ invocation: Invocation) async throws -> ExitCode {
        if invocation.arguments.isGiven("--compare") { return try await compare(invocation) }
        let path = invocation.arguments.required("IN")
        let device = try device(invocation.arguments)
        let report = Report(path, try await invocation.verifier().verify(path, for: device))
        try invocation.show(report, text: text(report, styled: invocation.console.output.hasStyle))
        return report.isRight ? .done : .failed
    }

    /// What was said of the device.
    private static func device(_ arguments: ParsedArguments) throws -> TargetDevice {
        let text = arguments.value("--os")
        let system = text.flatMap { SystemVersion($0) }
        if let text, system == nil {
            throw UsageError(
                .invalidValue,
                "--os: “\(text.printable)” is no version.",
                advice: "Write it as 17 or 17.5.1.",
                verb: "verify"
            )
        }
        return TargetDevice(
            identifier: arguments.value("--device"),
            platform: arguments.value("--platform").flatMap { Platform(rawValue: $0) },
            system: system
        )
    }

    /// The faults, the worst first, then how many there are.
    static func text(_ report: Report, styled: Bool) -> String {
        let marks = Marks(styled)
        let (dim, end) = styled ? ("\u{1B}[2m", "\u{1B}[0m") : ("", "")
        var lines: [String] = []
        for fault in report.faults.filter({ !$0.isWarning }) + report.faults.filter(\.isWarning) {
            let mark = fault.isWarning ? marks.warning : marks.bad
            let message = fault.message.hasPrefix(fault.place) ? fault.message : "\(fault.place): \(fault.message)"
            lines.append("\(mark) \(message.printable) \(dim)(\(fault.code))\(end)")
            if let answer = fault.systemAnswer {
                lines.append("  iOS says: \(answer)")
            }
            if let remedy = fault.remedy {
                lines.append("  \(remedy.printable)")
            }
        }
        let count = report.faults.filter { !$0.isWarning }.count
        let warnings = report.faults.count - count
        let more = warnings == 0 ? "" : ", \(warnings) \(warnings == 1 ? "warning" : "warnings")"
        lines.append(
            count == 0
                ? "\(marks.good) \(report.path): no fault\(more)"
                : "\(report.path): \(count) \(count == 1 ? "fault" : "faults")\(more)"
        )
        return lines.joined(separator: "\n")
    }
}
