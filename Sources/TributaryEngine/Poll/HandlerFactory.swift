import FeedConfiguration
import FeedFetching
import FeedInferring
import FeedModel
import FeedParsing
import FeedStaging
import FeedStores
import XMLStream

/// Creates the handlers of a response's document: of a registered class, of a mapping, or of the mirrored schema.
struct HandlerFactory {
    package var request: RequestDeclaration
    let environment: RunEnvironment
    /// True to note unmapped parts of documents.
    var notesUnused = false
    /// Looks for a further page that the document names; nil if nothing does.
    var nextPage: NextPageWatch?
    /// The compiled expressions of the run.
    var expressions = ExpressionPool()

    /// Creates the missing tables of a mapping or a parser.
    ///
    /// - Parameter additions: notes what was made.
    func prepareStore(_ additions: AdditionLog) throws {
        try request.prepare(environment.store, parsers: environment.registry, noting: additions.note)
    }

    /// Returns the handlers of a document. That of a mapping comes first.
    package func makeHandlers(
        _ response: FeedResponse, context: WorkerContext, index: Int
    ) throws -> [XMLStreamHandler] {
        switch request.content {
        case .parser(let name):
            let parser = try environment.registry.parser(name)
            context.beginRequest(
                index,
                rule: MergeRule(
                    sync: request.sync, scope: request.scope, window: request.window.map { MirrorWindow(column: $0) },
                    windowMayLack: true, keys: parser.keys, insertOnly: parser.insertOnly))
            return [parser.makeHandler(response, context: context)] + others
        case .mapping(let mapping):
            context.beginRequest(index, rule: MergeRule(sync: request.sync, scope: request.scope))
            let compiler = MappingCompiler(
                mapping: mapping, request: request, response: response, context: context,
                encryptionKey: environment.configuration.encryptionKey, expressions: expressions)
            let handler = MappingHandler(
                try compiler.layouts(), context: context, root: mapping.root, allowsEmpty: request.allowsEmpty,
                notesUnused: notesUnused, watch: pageWatch)
            return [handler]
        case .captures:
            context.beginRequest(index, rule: MergeRule(sync: request.sync, scope: request.scope))
            return others
        case .mirrored:
            context.beginRequest(
                index,
                rule: MergeRule(
                    sync: request.sync, scope: request.scope, window: request.window.map { MirrorWindow(column: $0) }))
            let compiler = MirroredCompiler(request: request, context: context)
            let handler = MappingHandler(
                try compiler.layouts(), context: context, root: nil, allowsEmpty: request.allowsEmpty,
                notesUnused: notesUnused, countsUnused: true, watch: pageWatch)
            return [handler]
        }
    }

    /// The search for a further page as a handler of its own. A mapping passes on only the elements that it wants.
    private var others: [XMLStreamHandler] { nextPage.map { [$0] } ?? [] }

    private var pageWatch: ElementWatch? { nextPage.map { ElementWatch($0, wants: NextPageWatch.wants) } }
}

extension ParserRegistry {
    /// Returns the version of a request's parser, which is part of the request's fingerprint.
    func version(of content: BodyContent) throws -> Int {
        guard case .parser(let name) = content else { return 1 }
        return try parser(name).version
    }

    fileprivate func parser(_ name: String) throws -> Parser {
        guard let parser = self[name] else { throw StackError("the parser '\(name)' is not registered") }
        return parser
    }
}
