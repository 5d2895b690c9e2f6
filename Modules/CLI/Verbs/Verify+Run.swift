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
                    isWarning: fault.isWarning
                )
            }
        }
    }

    static func run(_ invocation: Invocation) async throws -> ExitCode {
        let path = invocation.arguments.required("IN")
        let report = Report(path, try await invocation.signer().verify(path))
        try invocation.show(report, text: text(report, styled: invocation.console.output.hasStyle))
        return report.isRight ? .done : .failed
    }

    /// The faults, the worst first, then how many there are.
    static func text(_ report: Report, styled: Bool) -> String {
        let (red, yellow, green, dim, end) =
            styled ? ("\u{1B}[31m", "\u{1B}[33m", "\u{1B}[32m", "\u{1B}[2m", "\u{1B}[0m") : ("", "", "", "", "")
        var lines: [String] = []
        for fault in report.faults.filter({ !$0.isWarning }) + report.faults.filter(\.isWarning) {
            let mark = fault.isWarning ? "\(yellow)!\(end)" : "\(red)✗\(end)"
            let message = fault.message.hasPrefix(fault.place) ? fault.message : "\(fault.place): \(fault.message)"
            lines.append("\(mark) \(message.printable) \(dim)(\(fault.code))\(end)")
            if let remedy = fault.remedy {
                lines.append("  \(remedy)")
            }
        }
        let count = report.faults.filter { !$0.isWarning }.count
        let warnings = report.faults.count - count
        let more = warnings == 0 ? "" : ", \(warnings) \(warnings == 1 ? "warning" : "warnings")"
        lines.append(
            count == 0
                ? "\(green)✓\(end) \(report.path): no fault\(more)"
                : "\(report.path): \(count) \(count == 1 ? "fault" : "faults")\(more)"
        )
        return lines.joined(separator: "\n")
    }
}
