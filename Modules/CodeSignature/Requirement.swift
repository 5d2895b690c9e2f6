import FerryBytes

/// The designated requirement: what later versions of the code must fulfil to count as the same.
///
/// With a root of one's own it is `identifier "ID" and certificate root = H"SHA-1"`. A development or distribution identity's is, as Apple's tools write it,
/// `identifier "ID" and anchor apple generic and certificate leaf[subject.CN] = "CN"
/// and certificate 1[field.1.2.840.113635.100.6.2.1] exists`.
///
/// `Requirements { 0xfade0c01, length, count, { type 3, offset } }` around
/// `Requirement { 0xfade0c00, length, kind 1, expression }`; operators in prefix form, strings with their length in
/// front and padded to four bytes; big-endian. Source: libsecurity_codesigning `requirement.h`, `reqmaker.cpp`.
enum DesignatedRequirement {
    private enum Operator: UInt32 {
        case identifier = 2
        case anchorHash = 4
        case and = 6
        case certificateField = 11
        case certificateExtension = 14
        case appleGenericAnchor = 15
    }

    private enum Match: UInt32 {
        case exists = 0
        case equal = 1
    }

    /// The requirements blob of code that nobody signed: an empty list, as Apple's tools write it.
    static let none = SuperBlob.blob(SuperBlob.Magic.requirements, [0, 0, 0, 0])

    /// The requirements blob for code signed by this leaf under this chain.
    static func encoded(
        identifier: String,
        leaf: Certificate,
        chain: [Certificate]
    ) throws(CodeSignatureError) -> [UInt8] {
        var expression = Expression()
        expression.add(1)
        expression.add(.and)
        expression.add(.identifier)
        expression.add(identifier.utf8)
        if let intermediate = chain.first, intermediate.hasExtension(appleIntermediate.dotted) {
            guard let commonName = leaf.commonName else {
                throw CodeSignatureError(.identity, "the certificate “\(leaf.subject)” has no common name.")
            }
            expression.add(.and)
            expression.add(.appleGenericAnchor)
            expression.add(.and)
            expression.add(.certificateField)
            expression.add(0)
            expression.add("subject.CN".utf8)
            expression.add(Match.equal.rawValue)
            expression.add(commonName.utf8)
            expression.add(.certificateExtension)
            expression.add(1)
            expression.add(appleIntermediate.der)
            expression.add(Match.exists.rawValue)
        } else {
            expression.add(.anchorHash)
            expression.add(.max)  // -1: the root
            expression.add(HashAlgorithm.sha1.digest((chain.last ?? leaf).der))
        }
        let requirement = SuperBlob.blob(SuperBlob.Magic.requirement, expression.bytes)
        var list: [UInt8] = []
        list.append(UInt32(1), .big)
        list.append(UInt32(3), .big)
        list.append(UInt32(20), .big)
        return SuperBlob.blob(SuperBlob.Magic.requirements, list + requirement)
    }

    private struct Expression {
        var bytes: [UInt8] = []

        mutating func add(_ word: UInt32) {
            bytes.append(word, .big)
        }

        mutating func add(_ name: Operator) {
            add(name.rawValue)
        }

        mutating func add(_ data: some Collection<UInt8>) {
            add(UInt32(data.count))
            bytes += data
            bytes.pad(to: 4)
        }
    }

    /// The mark of Apple's developer intermediates, as text and in DER without tag and length.
    private static let appleIntermediate: (dotted: String, der: [UInt8]) = (
        "1.2.840.113635.100.6.2.1", [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x63, 0x64, 0x06, 0x02, 0x01]
    )
}
