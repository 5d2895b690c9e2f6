/// An app's icon in the forms that people get to see.
public enum Icon {
    /// How many bytes an icon may have on its way to a phone: in Base64 it then leaves room for all else in a payload
    /// of 4,096 bytes.
    public static let maximumJPEGBytes = 2_304

    /// A JPEG of a PNG, plain or crushed, of at most `maximumBytes` bytes: as large and as good as fits.
    ///
    /// On white where it is transparent, at most 120 pixels a side, baseline, in gray where the icon is. It is first
    /// made smaller, down to 16, until it fits in good quality; only what never does is made worse.
    public static func jpeg(
        from png: [UInt8],
        maximumBytes: Int = maximumJPEGBytes
    ) throws(IconError) -> [UInt8] {
        try Picture(png: png).jpeg(maximumBytes: maximumBytes)
    }

    /// The plain PNG of a PNG, crushed or not, with `side` pixels on its longer side; never larger than it was.
    public static func png(from png: [UInt8], side: Int) throws(IconError) -> [UInt8] {
        try Picture(png: png).scaled(to: side).png
    }

    /// The plain PNG of a PNG, with the same pixels: a plain one, once its parts were found to be right, as it is.
    public static func png(from png: [UInt8]) throws(IconError) -> [UInt8] {
        let file = try PNGFile(png)
        return file.isCrushed ? try CrushedPNG(png).plain() : png
    }
}
