import { type DocumentNode, GraphQLError, Source, visit } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import type { DocumentTooDeep, TooManyLines } from '../api-errors.ts'
import { toGraphQL } from '../errors.ts'
import type { GatewayContext } from './builder.ts'

/** How large a document may be. Reading one recurses, so that one nested without end would exhaust the stack. */

/** The deepest nesting of brackets of any kind: some three times what the schema has a use for. */
export const maxDocumentDepth = 100
/** How many lines a document may have: `graphql` counts those before an error anew each time that the error is copied. */
export const maxDocumentLines = 2_000
/** How many words, numbers and signs a document may have; what is longer belongs into variables. */
export const maxDocumentTokens = 10_000
/** How many fields of a document may have an alias: enough for a hundred roots side by side, and for two fields of each. */
export const maxAliases = 300
/** How many directives a document may have. */
export const maxDirectives = 100
/** How many variables a document may define. */
export const maxVariables = 250
/** How many characters all parsed documents have that are kept; parsed, one is some 46 bytes. */
export const maxKeptCharacters = 1_048_576
/** How often fields of a document may be put together with those of the same name. */
export const maxMergedFields = 100_000
/** How many characters all documents have that are kept to be named by their hashes. */
export const maxNamedCharacters = 4_194_304
/** The same of the refusals of documents that cannot be parsed. */
export const maxErrorCharacters = 131_072

/** Refuses documents on every transport: too long or too deep before they are parsed, with too much of one kind after it. */
export const documentLimits: Plugin<GatewayContext> = {
  onParse({ params: { source }, parseFn, setParseFn }) {
    const text = typeof source === 'string' ? source : source.body
    const refusal = refusalOf(text)
    if (refusal === undefined) {
      setParseFn((given, options) => {
        const document = parseFn(given, { ...options, maxTokens: maxDocumentTokens })
        refuseTooMany(document)
        return document
      })
      return
    }
    const { message, extensions } = toGraphQL(refusal.error)
    setParseFn(() => {
      const place = { source: new Source(text), positions: [refusal.at] }
      throw new GraphQLError(message, { ...place, extensions })
    })
  },
}

/** Why a document is not even parsed, with the offset of what is too much. */
function refusalOf(
  text: string,
): { error: TooManyLines | DocumentTooDeep; at: number } | undefined {
  const line = lineTooManyAt(text)
  if (line !== undefined) {
    return { error: { code: 'TOO_MANY_LINES', limit: maxDocumentLines }, at: line }
  }
  const bracket = tooDeepAt(text)
  if (bracket === undefined) return undefined
  return { error: { code: 'DOCUMENT_TOO_DEEP', limit: maxDocumentDepth }, at: bracket }
}

/** Throws at the first alias, variable or directive too many. */
function refuseTooMany(document: DocumentNode): void {
  let [aliases, directives, variables] = [0, 0, 0]
  visit(document, {
    Field(node) {
      if (node.alias === undefined || ++aliases <= maxAliases) return
      const { message, extensions } = toGraphQL({ code: 'TOO_MANY_ALIASES', limit: maxAliases })
      throw new GraphQLError(message, { nodes: node.alias, extensions })
    },
    VariableDefinition(node) {
      if (++variables <= maxVariables) return
      const { message, extensions } = toGraphQL({ code: 'TOO_MANY_VARIABLES', limit: maxVariables })
      throw new GraphQLError(message, { nodes: node, extensions })
    },
    Directive(node) {
      if (++directives <= maxDirectives) return
      const error = { code: 'TOO_MANY_DIRECTIVES', limit: maxDirectives } as const
      const { message, extensions } = toGraphQL(error)
      throw new GraphQLError(message, { nodes: node, extensions })
    },
  })
}

/** The offset of the first line too many. */
function lineTooManyAt(text: string): number | undefined {
  const end = /\r\n|[\n\r]/g
  for (let lines = 1; end.test(text); lines++) {
    if (lines === maxDocumentLines) return end.lastIndex
  }
  return undefined
}

/** The offset of the first bracket too deep; those in strings and comments do not count. */
function tooDeepAt(text: string): number | undefined {
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const sign = text.charAt(at)
    if (sign === '#') at = endOfLine(text, at)
    else if (sign === '"') at = endOfString(text, at)
    else if (sign === '{' || sign === '(' || sign === '[') depth++
    else if (sign === '}' || sign === ')' || sign === ']') depth--
    if (depth > maxDocumentDepth) return at
  }
  return undefined
}

function endOfLine(text: string, start: number): number {
  let at = start
  while (at < text.length && text.charAt(at) !== '\n' && text.charAt(at) !== '\r') at++
  return at
}

/** Strings may be most of a document, and are passed over at the speed of a search. */
const endOrEscape = /["\n\r]|\\[\s\S]/g

/** The last sign of a string; one without an end is left to the parser, and ends with its line or the text. */
function endOfString(text: string, start: number): number {
  const quotes = '"""'
  if (!text.startsWith(quotes, start)) {
    endOrEscape.lastIndex = start + 1
    let found = endOrEscape.exec(text)
    while (found?.[0].startsWith('\\')) found = endOrEscape.exec(text)
    return found?.index ?? text.length
  }
  let end = text.indexOf(quotes, start + quotes.length)
  while (end !== -1 && text.charAt(end - 1) === '\\')
    end = text.indexOf(quotes, end + quotes.length)
  return end === -1 ? text.length : end + quotes.length - 1
}
