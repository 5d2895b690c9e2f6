import CNghttp2

/// The header fields of a push, in the form that nghttp2 takes; made once for a connection and filled anew for each push.
///
/// Names and what never changes lie in memory that lives as long as this, so that nghttp2 need not copy it. What differs
/// from push to push is kept out of the table of HPACK, where it would push out what repeats.
final class HeaderBlock {
    /// The most fields that a push has.
    private static let fieldLimit = 11
    /// Room for a path with the longest token, and the longest topic, type, id and collapse id.
    private static let scratchSize = 4096

    private let fields = UnsafeMutablePointer<nghttp2_nv>.allocate(capacity: fieldLimit)
    private let scratch = UnsafeMutablePointer<UInt8>.allocate(capacity: scratchSize)
    private let constants: UnsafeMutablePointer<UInt8>
    private var names: [(UnsafeMutablePointer<UInt8>, Int)] = []
    private var fill = 0
    private var count = 0

    private enum Name: Int {
        case path, authorization, topic, pushType, priority, id, expiration, collapseID
    }

    init(authority: String) {
        let fixed = [":method", "POST", ":scheme", "https", ":authority", authority]
        let variable = [
            ":path", "authorization", "apns-topic", "apns-push-type", "apns-priority", "apns-id", "apns-expiration",
            "apns-collapse-id",
        ]
        let texts = (fixed + variable).map { Array($0.utf8) }
        constants = .allocate(capacity: texts.reduce(0) { $0 + $1.count })
        var places: [(UnsafeMutablePointer<UInt8>, Int)] = []
        var offset = 0
        for text in texts {
            (constants + offset).initialize(from: text, count: text.count)
            places.append((constants + offset, text.count))
            offset += text.count
        }
        for index in 0..<3 {
            let (name, value) = (places[2 * index], places[2 * index + 1])
            (fields + index).initialize(
                to: nghttp2_nv(
                    name: name.0,
                    value: value.0,
                    namelen: name.1,
                    valuelen: value.1,
                    flags: ferry_nv_no_copy
                )
            )
        }
        names = Array(places[6...])
    }

    deinit {
        fields.deallocate()
        scratch.deallocate()
        constants.deallocate()
    }

    /// Fills the fields for `request` and gives them to `body`; they hold until the next call.
    func with<Result>(
        _ request: PushRequest,
        bearer: UnsafeBufferPointer<UInt8>,
        _ body: (UnsafeMutablePointer<nghttp2_nv>, Int) -> Result
    ) -> Result {
        fill = 0
        count = 3
        let start = fill
        append("/3/device/")
        append(request.token)
        add(.path, from: start, ferry_nv_no_index)
        // nghttp2 never puts this one into its table; it is copied, for it may change before it is written.
        add(
            .authorization,
            UnsafeMutablePointer(mutating: bearer.baseAddress) ?? scratch,
            bearer.count,
            ferry_nv_no_copy_name
        )
        add(.topic, request.topic, ferry_nv_no_copy_name)
        add(.pushType, request.pushType.rawValue, ferry_nv_no_copy_name)
        add(.priority, request.priority == .ten ? "10" : "5", ferry_nv_no_copy_name)
        add(.id, request.id, ferry_nv_no_index)
        if let expiration = request.expiration {
            add(.expiration, String(expiration), expiration == 0 ? ferry_nv_no_copy_name : ferry_nv_no_index)
        }
        if let collapseID = request.collapseID {
            add(.collapseID, collapseID, ferry_nv_no_index)
        }
        return body(fields, count)
    }

    private func add(_ name: Name, _ text: String, _ flags: UInt8) {
        let start = fill
        append(text)
        add(name, from: start, flags)
    }

    private func add(_ name: Name, from start: Int, _ flags: UInt8) {
        add(name, scratch + start, fill - start, flags)
    }

    private func add(_ name: Name, _ value: UnsafeMutablePointer<UInt8>, _ length: Int, _ flags: UInt8) {
        let (text, textLength) = names[name.rawValue]
        (fields + count).initialize(
            to: nghttp2_nv(name: text, value: value, namelen: textLength, valuelen: length, flags: flags)
        )
        count += 1
    }

    /// Copies a text that ``PushRequest`` has bounded; what would not fit is left out.
    private func append(_ text: String) {
        var text = text
        text.withUTF8 { bytes in
            guard let base = bytes.baseAddress, bytes.count <= Self.scratchSize - fill else { return }
            (scratch + fill).update(from: base, count: bytes.count)
            fill += bytes.count
        }
    }
}
