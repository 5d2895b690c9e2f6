import CQRencode

/// A QR code (ISO/IEC 18004) with error correction of the kind M.
package struct QRCode: Sendable, Hashable {
    /// Modules on a side.
    package let side: Int
    /// Whether each module is dark, row after row.
    package let modules: [Bool]

    /// The code of a text; `nil` where it is too long, or empty.
    package init?(_ text: String) {
        guard let code = QRcode_encodeString(text, 0, QR_ECLEVEL_M, QR_MODE_8, 1) else { return nil }
        defer { QRcode_free(code) }
        let width = Int(code.pointee.width)
        guard width > 0, let data = code.pointee.data else { return nil }
        side = width
        // The lowest bit says dark.
        modules = UnsafeBufferPointer(start: data, count: width * width).map { $0 & 1 == 1 }
    }

    private func isDark(_ x: Int, _ y: Int) -> Bool {
        (0..<side).contains(x) && (0..<side).contains(y) && modules[y * side + x]
    }

    /// The code as SVG, dark on white, with the quiet zone of 4 modules around it.
    package var svg: String {
        let whole = side + 8
        var path = ""
        for y in 0..<side {
            var x = 0
            while x < side {
                guard isDark(x, y) else {
                    x += 1
                    continue
                }
                let start = x
                while isDark(x, y) { x += 1 }
                path += "M\(start + 4) \(y + 4)h\(x - start)v1h-\(x - start)z"
            }
        }
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(whole) \(whole)" shape-rendering="crispEdges">\
            <rect width="\(whole)" height="\(whole)" fill="#fff"/><path d="\(path)"/></svg>
            """
    }

    /// The code in half blocks for a terminal, light on dark as most are, with a quiet zone of 2.
    package var text: String {
        var lines: [String] = []
        for y in stride(from: -2, to: side + 2, by: 2) {
            lines.append(
                (-2..<side + 2).map { x in
                    switch (isDark(x, y), isDark(x, y + 1)) {
                    case (false, false): "█"
                    case (false, true): "▀"
                    case (true, false): "▄"
                    case (true, true): " "
                    }
                }.joined()
            )
        }
        return lines.joined(separator: "\n")
    }
}
