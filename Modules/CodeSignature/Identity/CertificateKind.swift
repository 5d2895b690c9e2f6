/// What a certificate of Apple's is for, by the mark (an extension) that Apple puts into it.
public enum CertificateKind: String, Sendable, Hashable, CaseIterable {
    /// `Apple Development`, `iPhone Developer`.
    case development
    /// `Apple Distribution`, `iPhone Distribution`: App Store, ad hoc and enterprise.
    case distribution
    /// `Mac Developer`.
    case macDevelopment
    /// `3rd Party Mac Developer Application`: the Mac App Store.
    case macDistribution
    /// `3rd Party Mac Developer Installer`.
    case macInstaller
    /// `Developer ID Application`: Mac apps outside the App Store.
    case developerID
    /// `Developer ID Installer`.
    case developerIDInstaller
    /// `Apple iPhone OS Application Signing`: Apple's own, on what the App Store hands out.
    case appStore

    /// The extension that marks it.
    public var objectIdentifier: String {
        let last =
            switch self {
            case .development: 2
            case .appStore: 3
            case .distribution: 4
            case .macDistribution: 7
            case .macInstaller: 8
            case .macDevelopment: 12
            case .developerID: 13
            case .developerIDInstaller: 14
            }
        return "1.2.840.113635.100.6.1.\(last)"
    }

    /// How the names of such certificates begin, today's form first.
    public var names: [String] {
        switch self {
        case .development: ["Apple Development", "iPhone Developer"]
        case .distribution: ["Apple Distribution", "iPhone Distribution"]
        case .macDevelopment: ["Mac Developer"]
        case .macDistribution: ["3rd Party Mac Developer Application"]
        case .macInstaller: ["3rd Party Mac Developer Installer"]
        case .developerID: ["Developer ID Application"]
        case .developerIDInstaller: ["Developer ID Installer"]
        case .appStore: ["Apple iPhone OS Application Signing"]
        }
    }

    /// Whether apps for iPhones and their kin are signed with it.
    public var signsApps: Bool { self == .development || self == .distribution }
}

extension Certificate {
    /// What it is for; `nil` for a certificate without a mark of Apple's.
    ///
    /// `Apple Development` and `Apple Distribution` have the marks for Macs too, so the order of the cases matters.
    public var kind: CertificateKind? {
        CertificateKind.allCases.first { hasExtension($0.objectIdentifier) }
    }

    /// What people call its kind: the beginning of its name if that is one of Apple's, else the usual name of its kind.
    public var kindName: String? {
        let written = CertificateKind.allCases.lazy.flatMap(\.names).first { name in
            commonName?.hasPrefix(name + ":") == true
        }
        return written ?? kind?.names.first
    }
}
