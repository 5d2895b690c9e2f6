/// A number of bytes as people read it: `110 MB`, decimal units as shops and `ls --si` have them.
func sizeText(_ bytes: some BinaryInteger) -> String {
    var value = Double(bytes)
    var units = ["bytes", "kB", "MB", "GB", "TB"][...]
    while value >= 999.5, units.count > 1 {
        value /= 1000
        units = units.dropFirst()
    }
    let unit = units.first ?? "bytes"
    let digits = value < 9.95 && unit != "bytes" ? "\((value * 10).rounded() / 10)" : "\(Int(value.rounded()))"
    return digits + " " + unit
}
