import { type DocumentNode, type EnumValueNode, type NameNode, Source, visit } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import type { DocumentTooLarge } from '../../errors/api-errors.ts'
import { toGraphQL } from '../../errors/errors.ts'
import type { GatewayContext } from '../builder.ts'

/** Limits on the size of documents. The parser recurses, so a document of unlimited depth would exhaust the stack. */

/** Maximum depth of brackets of any kind: about three times the depth that queries on the schema need. */
export const maxDocumentDepth = 100
/** Maximum number of lines of a document: `graphql` counts the lines before an error each time it copies the error. */
export const maxDocumentLines = 2_000
/**
 * Maximum number of tokens of a document: more than ten times the largest documents of the explorer. Long values belong into variables.
 * Each group of validation rules visits the whole document in one turn: 10,000 tokens take 20 to 27 ms, and twice as long before the code
 * is compiled (`docs/benchmarks.md`, Attacks).
 */
export const maxDocumentTokens = 5_000
/**
 * Maximum characters of a name in a document: many times the longest names of the schema and of generated documents. An error of a name
 * repeats it and looks for similar names, which takes 40 to 80 ms of one turn for a name of a megabyte.
 */
export const maxNameCharacters = 1_000
/** Maximum number of aliases of a document: enough for a hundred root fields and two fields below each of them. */
export const maxAliases = 300
/** Maximum number of directives of a document. */
export const maxDirectives = 100
/** Maximum number of variables that a document may define. */
export const maxVariables = 250
/**
 * Capacity of the cache of parsed documents, in characters. A parsed document takes about 46 bytes per character. Queries that are in use
 * are also cached in their prepared form.
 */
export const maxCachedCharacters = 262_144
/** Maximum number of fields of a document that are merged with fields of the same response name. */
export const maxMergedFields = 100_000
/** Capacity of the cache of persisted documents, in characters. */
export const maxNamedCharacters = 4_194_304
/** Capacity of the cache of parse errors, in characters of their documents. */
export const maxErrorCharacters = 131_072

/** Maximum number of errors of a document. */
const maxErrors = 100
/** Characters of a document or its variables above which errors suggest no names, which takes long for a long text. */
export const maxSuggestedCharacters = 65_536
/** Maximum number of characters in all errors of a document: each error may repeat most of a long document, such as its long names. */
const maxRepeatedCharacters = 1_000_000

/** Refuses documents on every transport. Lines and depth are checked before parsing, aliases, directives and variables after it. */
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
    setParseFn(() => {
      throw toGraphQL(refusal.error, { source: new Source(text), positions: [refusal.at] })
    })
  },
  onValidate({ params: { documentAST }, validateFn, setValidationFn }) {
    const { length = 0 } = documentAST.loc?.source.body ?? ''
    const options = {
      maxErrors: Math.min(maxErrors, Math.ceil(maxRepeatedCharacters / length)),
      // A text in place of an enum value is compared with the values.
      hideSuggestions: length > maxSuggestedCharacters,
    }
    setValidationFn((schema, document, rules) => validateFn(schema, document, rules, options))
  },
}

/** Returns the error for a document that must not be parsed, with the offset at which the limit is exceeded. */
function refusalOf(text: string): { error: DocumentTooLarge; at: number } | undefined {
  const line = lineTooManyAt(text)
  if (line !== undefined) {
    return { error: { code: 'TOO_MANY_LINES', limit: maxDocumentLines }, at: line }
  }
  const bracket = tooDeepAt(text)
  if (bracket === undefined) return undefined
  return { error: { code: 'DOCUMENT_TOO_DEEP', limit: maxDocumentDepth }, at: bracket }
}

/** Throws at the first alias, variable, directive or character of a name beyond its limit. */
function refuseTooMany(document: DocumentNode): void {
  let [aliases, directives, variables] = [0, 0, 0]
  const checkName = (node: NameNode | EnumValueNode) => {
    if (node.value.length <= maxNameCharacters) return
    throw toGraphQL({ code: 'NAME_TOO_LONG', limit: maxNameCharacters }, { nodes: node })
  }
  visit(document, {
    Name: checkName,
    EnumValue: checkName,
    Field(node) {
      if (node.alias === undefined || ++aliases <= maxAliases) return
      throw toGraphQL({ code: 'TOO_MANY_ALIASES', limit: maxAliases }, { nodes: node.alias })
    },
    VariableDefinition(node) {
      if (++variables <= maxVariables) return
      throw toGraphQL({ code: 'TOO_MANY_VARIABLES', limit: maxVariables }, { nodes: node })
    },
    Directive(node) {
      if (++directives <= maxDirectives) return
      throw toGraphQL({ code: 'TOO_MANY_DIRECTIVES', limit: maxDirectives }, { nodes: node })
    },
  })
}

/** Returns the offset of the first line beyond the limit. */
function lineTooManyAt(text: string): number | undefined {
  const end = /\r\n|[\n\r]/g
  for (let lines = 1; end.test(text); lines++) {
    if (lines === maxDocumentLines) return end.lastIndex
  }
  return undefined
}

/** Returns the offset of the first bracket beyond the depth limit. Brackets in strings and comments do not count. */
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

/** The end of a string or an escape in it. Strings may be most of a document, so a regular expression skips their characters. */
const endOrEscape = /["\n\r]|\\[\s\S]/g

/** Returns the offset of the last character of a string. An unterminated string ends with its line or the text; the parser reports it. */
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
