import { GraphQLError, Source } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import { toGraphQL } from '../errors.ts'
import type { GatewayContext } from './builder.ts'

/** How large a document may be. Reading one recurses, so that one nested without end would exhaust the stack. */

/** A document whose brackets stand too deep in each other. */
export interface DocumentTooDeep {
  readonly code: 'DOCUMENT_TOO_DEEP'
  readonly limit: number
}

/** How deep brackets of any kind may stand in each other: some three times as deep as anything that the schema has a use for. */
export const maxDocumentDepth = 100
/** How many words, numbers and signs a document may have; what is longer belongs into variables. */
export const maxDocumentTokens = 10_000
/** How many characters all parsed documents have that are kept; parsed, one is some 46 bytes. */
export const maxKeptCharacters = 1_048_576
/** The same of the refusals of documents that cannot be parsed. */
export const maxErrorCharacters = 131_072

/** Refuses what is too large, at every door, before it is read. */
export const documentLimits: Plugin<GatewayContext> = {
  onParse({ params: { source }, parseFn, setParseFn }) {
    const text = typeof source === 'string' ? source : source.body
    const at = tooDeepAt(text)
    if (at === undefined) {
      setParseFn((given, options) => parseFn(given, { ...options, maxTokens: maxDocumentTokens }))
      return
    }
    const { message, extensions } = toGraphQL({
      code: 'DOCUMENT_TOO_DEEP',
      limit: maxDocumentDepth,
    })
    setParseFn(() => {
      throw new GraphQLError(message, { source: new Source(text), positions: [at], extensions })
    })
  },
}

/** Where the first bracket too many stands; those in strings and comments do not count. */
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

/** The last sign of a string; one without an end is left to the parser, and ends with its line or the text. */
function endOfString(text: string, start: number): number {
  const quotes = '"""'
  if (!text.startsWith(quotes, start)) {
    let at = start + 1
    while (at < text.length && !'"\n\r'.includes(text.charAt(at))) {
      at += text.charAt(at) === '\\' ? 2 : 1
    }
    return at
  }
  let end = text.indexOf(quotes, start + quotes.length)
  while (end !== -1 && text.charAt(end - 1) === '\\')
    end = text.indexOf(quotes, end + quotes.length)
  return end === -1 ? text.length : end + quotes.length - 1
}
