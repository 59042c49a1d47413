internal import CYaml

/// The only file that knows libyaml: text in, one tree of `YAMLNode`s with places out.
///
/// The parser and the document are owned by this function alone and freed before it returns; every string is copied
/// out of libyaml's memory while the document is alive.
enum YAMLDocument {
    /// What makes a text unreadable as YAML.
    struct SyntaxError: Error, Equatable {
        var message: String
        var place: YAMLNode.Place
    }

    /// Nesting deeper than this is refused (an alias may point to a node around it).
    static let depthLimit = 32
    /// Nodes beyond this are refused (aliases may multiply a small text into a large tree).
    static let nodeLimit = 50_000

    /// Reads the one document of `text`; nil when there is none.
    static func read(_ text: String) throws(SyntaxError) -> YAMLNode? {
        var bytes = Array(text.utf8)
        if bytes.isEmpty { bytes = [0x0A] }
        var result: Result<YAMLNode?, SyntaxError> = .success(nil)
        // `bytes` outlives the parser: both end inside this closure.
        bytes.withUnsafeBufferPointer { buffer in
            result = load(buffer)
        }
        return try result.get()
    }

    private static func load(_ input: UnsafeBufferPointer<UInt8>) -> Result<YAMLNode?, SyntaxError> {
        var parser = yaml_parser_t()
        guard yaml_parser_initialize(&parser) == 1 else {
            return .failure(SyntaxError(message: "out of memory", place: .init(line: 1, column: 1)))
        }
        defer { yaml_parser_delete(&parser) }
        yaml_parser_set_input_string(&parser, input.baseAddress, input.count)
        yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING)

        var document = yaml_document_t()
        guard yaml_parser_load(&parser, &document) == 1 else { return .failure(syntaxError(parser)) }
        defer { yaml_document_delete(&document) }
        guard yaml_document_get_root_node(&document) != nil else { return .success(nil) }
        var budget = nodeLimit
        let tree: Result<YAMLNode, SyntaxError> = convert(&document, 1, depth: 0, budget: &budget)
        guard case .success(let root) = tree else { return tree.map { $0 } }

        var second = yaml_document_t()
        guard yaml_parser_load(&parser, &second) == 1 else { return .failure(syntaxError(parser)) }
        defer { yaml_document_delete(&second) }
        if let extra = yaml_document_get_root_node(&second) {
            return .failure(
                SyntaxError(message: "a second document begins here; a policy is one document", place: place(extra)))
        }
        return .success(root)
    }

    private static func convert(
        _ document: inout yaml_document_t, _ index: Int32, depth: Int, budget: inout Int
    ) -> Result<YAMLNode, SyntaxError> {
        guard let node = yaml_document_get_node(&document, index) else {
            return .failure(SyntaxError(message: "a node is missing", place: .init(line: 1, column: 1)))
        }
        let place = place(node)
        budget -= 1
        guard depth < depthLimit, budget > 0 else {
            return .failure(SyntaxError(message: "nested too deeply, or too many nodes", place: place))
        }
        switch node.pointee.type {
        case YAML_SCALAR_NODE:
            let scalar = node.pointee.data.scalar
            let bytes = UnsafeBufferPointer(start: scalar.value, count: scalar.length)
            return .success(
                YAMLNode(
                    content: .scalar(
                        String(decoding: bytes, as: UTF8.self), isPlain: scalar.style == YAML_PLAIN_SCALAR_STYLE),
                    place: place))
        case YAML_SEQUENCE_NODE:
            let items = node.pointee.data.sequence.items
            var children: [YAMLNode] = []
            for item in UnsafeBufferPointer(start: items.start, count: max(0, items.top - items.start)) {
                switch convert(&document, item, depth: depth + 1, budget: &budget) {
                case .success(let child): children.append(child)
                case .failure(let error): return .failure(error)
                }
            }
            return .success(YAMLNode(content: .sequence(children), place: place))
        case YAML_MAPPING_NODE:
            let pairs = node.pointee.data.mapping.pairs
            var children: [YAMLNode.Pair] = []
            for pair in UnsafeBufferPointer(start: pairs.start, count: max(0, pairs.top - pairs.start)) {
                let key = convert(&document, pair.key, depth: depth + 1, budget: &budget)
                let value = convert(&document, pair.value, depth: depth + 1, budget: &budget)
                switch (key, value) {
                case (.success(let key), .success(let value)): children.append(.init(key: key, value: value))
                case (.failure(let error), _), (_, .failure(let error)): return .failure(error)
                }
            }
            return .success(YAMLNode(content: .mapping(children), place: place))
        default:
            return .failure(SyntaxError(message: "a node without content", place: place))
        }
    }

    private static func place(_ node: UnsafeMutablePointer<yaml_node_t>) -> YAMLNode.Place {
        .init(line: Int(node.pointee.start_mark.line) + 1, column: Int(node.pointee.start_mark.column) + 1)
    }

    private static func syntaxError(_ parser: yaml_parser_t) -> SyntaxError {
        let problem = parser.problem.map { String(cString: $0) } ?? "not YAML"
        let context = parser.context.map { " " + String(cString: $0) } ?? ""
        return SyntaxError(
            message: "not YAML: \(problem)\(context)",
            place: .init(line: Int(parser.problem_mark.line) + 1, column: Int(parser.problem_mark.column) + 1))
    }
}
