import COpenSSL
import FerryBytes
import FerryPropertyList

/// The property list in a provisioning profile, taken out of its signature.
struct ProfileContent {
    /// Far more than the largest team's profile, which lists a few hundred devices and certificates.
    static let maximumByteCount = 16 << 20

    let dictionary: PropertyList.Dictionary
    let isSigned: Bool

    init(_ bytes: [UInt8], _ path: String) throws(AppBundleError) {
        guard bytes.count <= Self.maximumByteCount else {
            throw Self.unreadable(path, "it has \(bytes.count) bytes, more than \(Self.maximumByteCount).")
        }
        let content = Self.signedContent(bytes)
        isSigned = content != nil
        if content == nil, bytes.first == Self.sequenceTag {
            throw Self.unreadable(path, "it is no CMS with a property list inside, or was cut short.")
        }
        let value: PropertyList
        do {
            value = try PropertyList.parse(content ?? bytes).value
        } catch {
            throw Self.unreadable(path, error.message)
        }
        guard case .dictionary(let dictionary) = value else {
            throw Self.unreadable(path, "it holds \(value.kindName), not a dictionary.")
        }
        self.dictionary = dictionary
    }

    static func unreadable(_ path: String, _ what: String) -> AppBundleError {
        AppBundleError(
            .profileUnreadable,
            path,
            "this is no provisioning profile. \(what.prefix(1).uppercased() + what.dropFirst())",
            remedy: "Download the profile again from developer.apple.com."
        )
    }

    private static let sequenceTag: UInt8 = 0x30

    /// What the CMS signs; `nil` for what is no signed CMS with its content inside.
    private static func signedContent(_ bytes: [UInt8]) -> [UInt8]? {
        defer { ERR_clear_error() }
        return bytes.withUnsafeBufferPointer { buffer -> [UInt8]? in
            var cursor = buffer.baseAddress
            guard let cms = d2i_CMS_ContentInfo(nil, &cursor, buffer.count) else { return nil }
            defer { CMS_ContentInfo_free(cms) }
            guard OBJ_obj2nid(CMS_get0_type(cms)) == NID_pkcs7_signed,
                let content = CMS_get0_content(cms)?.pointee,
                let start = ASN1_STRING_get0_data(content)
            else { return nil }
            return Array(UnsafeBufferPointer(start: start, count: Int(ASN1_STRING_length(content))))
        }
    }
}
