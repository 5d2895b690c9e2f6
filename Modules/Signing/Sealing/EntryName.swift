import FerryBytes

/// A name, equal to another only byte by byte.
typealias EntryName = ExactText
