import { createHash } from 'node:crypto'
import { GraphQLError } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import { LRUCache } from 'lru-cache'
import { readJsonFile } from '../../../lib/json-file.ts'
import { err, ok, type Result } from '../../../lib/result.ts'
import type { DocumentError } from '../../errors/api-errors.ts'
import { toGraphQL } from '../../errors/errors.ts'
import { refusedByHttp } from './cost.ts'
import { maxNamedCharacters } from './limits.ts'

/**
 * Persisted documents, which a request names by `extensions.persistedQuery` with `version: 1` and `sha256Hash` instead of sending them.
 * They are either documents that a client has sent before (automatic persisted queries), or only those of the operator's manifest.
 */

/** Persisted documents by their names. */
export interface Documents {
  /** Returns the text of the document that a request sends or names; `undefined` when it does neither. */
  textOf(request: DocumentRequest): Result<string | undefined, DocumentError>
}

/** The members of a request that determine its document, unchecked. */
export interface DocumentRequest {
  readonly query?: unknown
  readonly extensions?: unknown
}

/** Texts of the documents of a manifest, by id. */
export type TrustedDocuments = ReadonlyMap<string, string>

/** The error for a file that is not a valid manifest. */
export interface TrustedDocumentsInvalid {
  readonly code: 'TRUSTED_DOCUMENTS_INVALID'
  readonly path: string
  readonly reason: string
}

/**
 * Without a manifest, accepts any document and caches documents that are sent with their hash. With a manifest, accepts only its
 * documents and the gateway's `own` documents.
 */
export function createDocuments(
  trusted?: TrustedDocuments,
  own: readonly string[] = [],
): Documents {
  return trusted === undefined ? automatic() : ofManifest(trusted, own)
}

function automatic(): Documents {
  const cache = new LRUCache<string, string>({
    maxSize: maxNamedCharacters,
    // Includes the hash and the overhead of an entry.
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
        const known = cache.get(name)
        return known === undefined ? err({ code: 'PERSISTED_QUERY_NOT_FOUND' }) : ok(known)
      }
      if (hashOf(sent) !== name) return err({ code: 'PERSISTED_QUERY_HASH_MISMATCH' })
      cache.set(name, sent)
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

/** Returns the name of a document; `undefined` when the request names none. */
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

/** Replaces the name of a document by its text, before the server reads the request. */
export function namedDocuments(documents: Documents): Plugin {
  return {
    onParams({ params, setParams }) {
      const text = documents.textOf(params)
      if (!text.ok) throw refusedByHttp(toGraphQL(text.error))
      const { value: query } = text
      if (query === undefined && params.query == null) throw missingQuery
      if (query !== undefined && query !== params.query) setParams({ ...params, query })
    },
  }
}

/** A request without a document is not well-formed, whatever media type its client accepts; the server would answer some with 200. */
const missingQuery = new GraphQLError('Must provide query string.', {
  extensions: { code: 'BAD_REQUEST', http: { status: 400 } },
})

/** Reads a manifest: `{"id": "document"}`, as Relay and GraphQL Code Generator write it, or Apollo's with `operations`. */
export async function readTrustedDocuments(
  path: string,
): Promise<Result<TrustedDocuments, TrustedDocumentsInvalid>> {
  const refuse = (reason: string) =>
    err({ code: 'TRUSTED_DOCUMENTS_INVALID', path, reason } as const)
  const json = await readJsonFile(path)
  if (!json.ok) return refuse(json.error)
  const { operations }: { readonly operations?: unknown } = Object(json.value)
  const pairs: readonly (readonly [unknown, unknown])[] = Array.isArray(operations)
    ? operations.map((one) => [Object(one).id, Object(one).body])
    : Object.entries(Object(json.value))
  const documents = new Map<string, string>()
  for (const [id, text] of pairs) {
    if (typeof id !== 'string' || typeof text !== 'string') {
      return refuse(`expected document texts by id, not ${JSON.stringify(text)}`)
    }
    documents.set(id, text)
  }
  return documents.size === 0 ? refuse('it has no documents') : ok(documents)
}
