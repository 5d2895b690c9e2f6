import FerryBytes

/// The designated requirement: what later versions of the code must fulfil to count as the same.
///
/// A development or distribution identity's is, as Apple's tools write it,
/// `identifier "ID" and anchor apple generic and certificate leaf[subject.CN] = "CN"
/// and certificate 1[field.1.2.840.113635.100.6.2.1] exists`.
///
/// `Requirements { 0xfade0c01, length, count, { type 3, offset } }` around
/// `Requirement { 0xfade0c00, length, kind 1, expression }`; operators in prefix form, strings with their length in
/// front and padded to four bytes; big-endian. Source: libsecurity_codesigning `requirement.h`, `reqmaker.cpp`.
enum DesignatedRequirement {
    private enum Operator: UInt32 {
        case identifier = 2
        case and = 6
        case certificateField = 11
        case certificateExtension = 14
        case appleGenericAnchor = 15
    }

    private enum Match: UInt32 {
        case exists = 0
        case equal = 1
    }

    /// The requirements blob for code signed by a leaf with this common name.
    static func encoded(identifier: String, commonName: String) -> [UInt8] {
        var expression: [UInt8] = []
        func add(_ word: UInt32) { expression.append(word, .big) }
        func add(_ bytes: some Collection<UInt8>) {
            expression.append(UInt32(bytes.count), .big)
            expression += bytes
            expression.pad(to: 4)
        }
        add(1)
        add(Operator.and.rawValue)
        add(Operator.identifier.rawValue)
        add(Array(identifier.utf8))
        add(Operator.and.rawValue)
        add(Operator.appleGenericAnchor.rawValue)
        add(Operator.and.rawValue)
        add(Operator.certificateField.rawValue)
        add(0)
        add(Array("subject.CN".utf8))
        add(Match.equal.rawValue)
        add(Array(commonName.utf8))
        add(Operator.certificateExtension.rawValue)
        add(1)
        add(appleIntermediate)
        add(Match.exists.rawValue)

        let requirement = SuperBlob.blob(SuperBlob.Magic.requirement, expression)
        var list: [UInt8] = []
        list.append(UInt32(1), .big)
        list.append(UInt32(3), .big)
        list.append(UInt32(20), .big)
        return SuperBlob.blob(SuperBlob.Magic.requirements, list + requirement)
    }

    /// An empty list, as ad hoc signatures have it.
    static let none = SuperBlob.blob(SuperBlob.Magic.requirements, [0, 0, 0, 0] as [UInt8])

    /// 1.2.840.113635.100.6.2.1 in DER without tag and length: the mark of Apple's developer intermediates.
    private static let appleIntermediate: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x63, 0x64, 0x06, 0x02, 0x01]
}
