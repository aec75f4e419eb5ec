import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { Plugin } from 'graphql-yoga'
import { LRUCache } from 'lru-cache'
import { err, ok, type Result } from '../../lib/result.ts'
import type { DocumentError } from '../api-errors.ts'
import { toGraphQL } from '../errors.ts'
import { refusedByHttp } from './cost.ts'
import { maxNamedCharacters } from './limits.ts'

/**
 * Documents that a request names in place of sending them, by `extensions.persistedQuery` with `version: 1` and `sha256Hash`:
 * those that a client has sent before (automatic persisted queries), or those of the operator's manifest and no others.
 */

/** Documents by their names. */
export interface Documents {
  /** The text of the document that is sent or named; `undefined` where neither is. */
  textOf(request: DocumentRequest): Result<string | undefined, DocumentError>
}

/** What a request says of its document, unchecked. */
export interface DocumentRequest {
  readonly query?: unknown
  readonly extensions?: unknown
}

/** Texts of documents by the ids that the operator's clients name them by. */
export type TrustedDocuments = ReadonlyMap<string, string>

/** A file that is no manifest, and why. */
export interface TrustedDocumentsInvalid {
  readonly code: 'TRUSTED_DOCUMENTS_INVALID'
  readonly path: string
  readonly reason: string
}

/**
 * Takes any document, and keeps those that are sent with their hash; or takes those of a manifest, and the gateway's `own`, and
 * no others.
 */
export function createDocuments(
  trusted?: TrustedDocuments,
  own: readonly string[] = [],
): Documents {
  return trusted === undefined ? sentBefore() : ofManifest(trusted, own)
}

function sentBefore(): Documents {
  const kept = new LRUCache<string, string>({
    maxSize: maxNamedCharacters,
    // With its hash and its place.
    sizeCalculation: (text) => text.length + 200,
  })
  return {
    textOf: ({ query, extensions }) => {
      const hash = nameIn(extensions)
      if (!hash.ok) return hash
      const { value: name } = hash
      const sent = textIn(query)
      if (name === undefined) return ok(sent)
      if (!/^[0-9a-f]{64}$/.test(name)) return err({ code: 'PERSISTED_QUERY_MALFORMED' })
      if (!sent) {
        const known = kept.get(name)
        return known === undefined ? err({ code: 'PERSISTED_QUERY_NOT_FOUND' }) : ok(known)
      }
      if (hashOf(sent) !== name) return err({ code: 'PERSISTED_QUERY_HASH_MISMATCH' })
      kept.set(name, sent)
      return ok(sent)
    },
  }
}

function ofManifest(trusted: TrustedDocuments, own: readonly string[]): Documents {
  const texts = new Set([...trusted.values(), ...own])
  return {
    textOf: ({ query, extensions }) => {
      const name = nameIn(extensions)
      if (!name.ok) return name
      const sent = textIn(query)
      const text = name.value === undefined ? sent : trusted.get(name.value)
      if (text === undefined || !texts.has(text)) return err({ code: 'DOCUMENT_NOT_TRUSTED' })
      return !sent || sent === text ? ok(text) : err({ code: 'PERSISTED_QUERY_HASH_MISMATCH' })
    },
  }
}

function textIn(query: unknown): string | undefined {
  return typeof query === 'string' ? query : undefined
}

/** The name of a document, where a request has one. */
function nameIn(extensions: unknown): Result<string | undefined, DocumentError> {
  const { persistedQuery }: { readonly persistedQuery?: unknown } = Object(extensions)
  if (persistedQuery == null) return ok(undefined)
  const { version, sha256Hash }: Partial<Record<string, unknown>> = Object(persistedQuery)
  if (version !== 1 || typeof sha256Hash !== 'string') {
    return err({ code: 'PERSISTED_QUERY_MALFORMED' })
  }
  return ok(sha256Hash)
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** Puts the text of a document where its name is, before the server reads the request. */
export function namedDocuments(documents: Documents): Plugin {
  return {
    onParams({ params, setParams }) {
      const text = documents.textOf(params)
      if (!text.ok) throw refusedByHttp(toGraphQL(text.error))
      const { value: query } = text
      if (query !== undefined && query !== params.query) setParams({ ...params, query })
    },
  }
}

/** Reads a manifest: `{"id": "document"}`, as Relay and GraphQL Code Generator write it, or Apollo's with `operations`. */
export async function readTrustedDocuments(
  path: string,
): Promise<Result<TrustedDocuments, TrustedDocumentsInvalid>> {
  const refuse = (reason: string) =>
    err({ code: 'TRUSTED_DOCUMENTS_INVALID', path, reason } as const)
  let json: unknown
  try {
    json = JSON.parse(await readFile(path, 'utf8'))
  } catch (failure) {
    return refuse(failure instanceof Error ? failure.message : 'unreadable')
  }
  const { operations }: { readonly operations?: unknown } = Object(json)
  const pairs: readonly (readonly [unknown, unknown])[] = Array.isArray(operations)
    ? operations.map((one) => [Object(one).id, Object(one).body])
    : Object.entries(Object(json))
  const documents = new Map<string, string>()
  for (const [id, text] of pairs) {
    if (typeof id !== 'string' || typeof text !== 'string') {
      return refuse(`expected texts of documents by their ids, not ${JSON.stringify(text)}`)
    }
    documents.set(id, text)
  }
  return documents.size === 0 ? refuse('it has no documents') : ok(documents)
}
