import FerryPropertyList

extension FieldReader {
    /// The pictures: addresses, or objects with a size, in one list or in one for each kind of device.
    func screenshots(_ problems: inout ProblemList) -> [AppSource.Screenshot] {
        var all: [AppSource.Screenshot] = []
        let values = [object["screenshots"], object["screenshotURLs"]].compactMap(\.self)
        // Older lists have the second name; where both are there, the first says more.
        guard let value = values.first(where: { $0 != .array([]) && !$0.isNothing }) else { return [] }
        let key = value == object["screenshots"] ? "screenshots" : "screenshotURLs"
        switch value {
        case .array(let elements): add(elements, nil, key, to: &all, &problems)
        case .dictionary(let devices):
            for (device, value) in devices {
                let place = "\(key).\(device.prefix(40))"
                guard case .array(let elements) = value else {
                    problems.add(problem(place, "expected a list, found \(value.found)"))
                    continue
                }
                add(elements, device.lowercased(), place, to: &all, &problems)
            }
        default: problems.add(problem(key, "expected a list, found \(value.found)"))
        }
        return all
    }

    private func add(
        _ elements: [PropertyList],
        _ device: String?,
        _ key: String,
        to all: inout [AppSource.Screenshot],
        _ problems: inout ProblemList
    ) {
        for (index, element) in elements.enumerated() where all.count < limits.maximumListCount {
            let text = element.string ?? element["imageURL"]?.string ?? element["url"]?.string
            guard let text, !text.trimmed.isEmpty, text.utf8.count <= limits.maximumNameBytes else {
                if !element.isNothing {
                    problems.add(
                        problem("\(key)[\(index)]", "expected the address of a picture, found \(element.found)")
                    )
                }
                continue
            }
            switch url(text.trimmed) {
            case .success(let url):
                all.append(
                    AppSource.Screenshot(
                        url: url,
                        device: device,
                        width: Self.length(element["width"]),
                        height: Self.length(element["height"])
                    )
                )
            case .failure(let fault): problems.add(problem("\(key)[\(index)]", fault.reason))
            }
        }
    }

    private static func length(_ value: PropertyList?) -> Int? {
        let number: Double? =
            switch value {
            case .integer(let number)?: Double(number)
            case .real(let number)?: number
            case .string(let text)?: Double(text.trimmed)
            default: nil
            }
        guard let number, (1...100_000).contains(number) else { return nil }
        return Int(number)
    }

    /// What the app may do: entitlements as names or objects, privacy as a mapping or a list; or the older `permissions`.
    func permissions(_ problems: inout ProblemList) -> (entitlements: [String], privacy: [String: String]) {
        let limit = limits.maximumListCount
        let all = object["appPermissions"]
        var entitlements: [String] = []
        switch all?["entitlements"] {
        case .array(let elements)?:
            entitlements = elements.prefix(limit).compactMap { $0.string ?? $0["name"]?.string }
        case .dictionary(let dictionary)?: entitlements = Array(dictionary.keys.prefix(limit))
        case let value?: problems.add(problem("appPermissions.entitlements", "expected a list, found \(value.found)"))
        case nil: break
        }
        var privacy: [String: String] = [:]
        func add(_ elements: [PropertyList], _ key: String) {
            for element in elements.prefix(limit) {
                guard let name = element.string ?? element[key]?.string else { continue }
                privacy[name] = element["usageDescription"]?.string ?? ""
            }
        }
        switch all?["privacy"] {
        case .array(let elements)?: add(elements, "name")
        case .dictionary(let dictionary)?:
            for (name, text) in dictionary where privacy.count < limit { privacy[name] = text.string ?? "" }
        case let value?:
            problems.add(problem("appPermissions.privacy", "expected a list or an object, found \(value.found)"))
        case nil: if case .array(let elements)? = object["permissions"] { add(elements, "type") }
        }
        return (entitlements, privacy)
    }
}
