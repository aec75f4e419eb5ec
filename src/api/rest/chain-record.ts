import { present } from '../../lib/assert.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import { parseChainId } from '../../service/chain-records/chain-id.ts'
import {
  type ChainRecordVersion,
  readChainRecord,
} from '../../service/chain-records/chain-records.ts'
import {
  type ChainRecordVersions,
  chainRecordBody,
  maxAccessNodes,
  setChainRecord,
} from '../../service/chain-records/set-chain-record.ts'
import type { IfMatchMalformed } from '../errors/api-errors.ts'
import { chainRecordCost } from '../graphql/execution/prices.ts'
import { readJson } from './body.ts'
import { about, bech32, flag, isoTime, listOf, object, printedBy, text, uint32 } from './form.ts'
import type { Parameter } from './parameters.ts'
import { jsonReply } from './reply.ts'
import type { CheckedRequest } from './request.ts'
import type { RestResponse } from './response.ts'
import { route } from './route.ts'

/** Routes that set (specification 4.1) and read the record of a chain. */

/** The path parameter that identifies a chain. */
export const chainParams: { readonly chainID: Parameter<string> } = {
  chainID: {
    shape: about('Account or anchor address in Bech32, with any human-readable part.', bech32)
      .shape,
    read: (given = '', { argument }) => parseChainId(given, argument),
  },
}

/** The header that protects from overwriting changes of other writers. */
export const ifMatch: { readonly 'If-Match': Parameter<ChainRecordVersions | undefined> } = {
  'If-Match': {
    shape: about('Entity tag of the record to replace, or `*` for any existing record.', text)
      .shape,
    read: (given) => readTags(given, 'If-Match'),
  },
}

/** The header that protects existing records. */
const ifNoneMatch: { readonly 'If-None-Match': Parameter<ChainRecordVersions | undefined> } = {
  'If-None-Match': {
    shape: about('`*` to create a record only, or the entity tag of a record to keep.', text).shape,
    read: (given) => readTags(given, 'If-None-Match'),
  },
}

export const chainRecordForm = printedBy(
  ({ chainId: chainID, ...record }: ChainRecordVersion) => ({ chainID, ...record }),
  object({
    chainID: about('The chain id in lower case.', bech32),
    accessNodes: listOf(text, maxAccessNodes),
    isActive: flag,
    version: about('Version of the record of this chain: 1, 2, 3 …', uint32),
    setBy: about('Subject of the token, or its fingerprint if it has no subject.', text),
    setAt: isoTime,
  }),
)

/** Describes a response with a record; its entity tag is the version of the record. */
export function recordReply(about: string) {
  const reply = jsonReply(about, chainRecordForm, {
    etag: 'Version of the record; see `If-Match`.',
  })
  const respond = (
    request: CheckedRequest,
    record: ChainRecordVersion,
    status = 200,
  ): RestResponse =>
    reply.respond(request, record, { status, headers: { etag: `"${record.version}"` } })
  return { ...reply, respond }
}

const created = recordReply('The updated record.')

/** Sets the record of a chain. The order of the checks is: token, chain id, headers, body. */
export const setChainRecordRoute = route({
  method: 'POST',
  path: '/v1/chains/{chainID}/chainrecord',
  about: 'Creates or replaces the record of a chain.',
  token: 'needed',
  cost: chainRecordCost,
  params: chainParams,
  headers: { ...ifMatch, ...ifNoneMatch },
  body: { 'application/json': chainRecordBody.shape },
  answers: { 201: created },
  errors: [401, 403, 412, 413],
  answer: async (given, services, request) => {
    const { chainID: chainId, 'If-Match': onlyOver, 'If-None-Match': notOver } = given
    const json = await readJson(request)
    if (!json.ok) return json
    const { name: setBy } = present(request.identity, 'the holder of the token')
    const record = json.value
    const saved = await setChainRecord(services, { chainId, record, setBy, onlyOver, notOver })
    return saved.ok ? ok(created.respond(request, saved.value, 201)) : saved
  },
})

const found = recordReply('The record.')

export const chainRecordRoute = route({
  method: 'GET',
  path: '/v1/chains/{chainID}/chainrecord',
  about: 'Returns the record of a chain.',
  params: chainParams,
  answers: { 200: found },
  errors: [404],
  answer: async ({ chainID: chainId }, services, request) => {
    const record = await readChainRecord(services, chainId)
    if (!record.ok) return record
    if (record.value !== undefined) return ok(found.respond(request, record.value))
    return err({ code: 'CHAIN_RECORD_UNKNOWN', chainId })
  },
})

/**
 * Reads the versions that a header names. `If-Match` uses strong comparison, by which a weak tag matches no version, and `If-None-Match`
 * weak comparison (RFC 9110, 13.1).
 */
function readTags(
  given: string | undefined,
  header: IfMatchMalformed['header'],
): Result<ChainRecordVersions | undefined, IfMatchMalformed> {
  if (given === undefined) return ok(undefined)
  if (given.trim() === '*') return ok('ANY')
  const tags = given.split(',').map((tag) => /^\s*(W\/)?"(.*)"\s*$/.exec(tag))
  if (tags.includes(null)) return err({ code: 'IF_MATCH_MALFORMED', header })
  const compared = tags.filter((tag) => tag?.[1] === undefined || header === 'If-None-Match')
  const versions = compared.map((tag) => tag?.[2] ?? '')
  return ok(versions.filter((tag) => /^[1-9][0-9]{0,9}$/.test(tag)).map(Number))
}
