import { err, ok, type Result } from '../../lib/result.ts'
import { parseChainId } from '../../service/chain-records/chain-id.ts'
import { type ChainRecordView, readChainRecord } from '../../service/chain-records/chain-records.ts'
import {
  type ChainRecordPrecondition,
  setChainRecord,
} from '../../service/chain-records/set-chain-record.ts'
import type { IfMatchMalformed } from '../api-errors.ts'
import { toRest } from '../errors.ts'
import { checkContentType, parseJson } from './body.ts'
import { about, bech32, flag, listOf, moment, object, text, uint32 } from './openapi/shape.ts'
import { json, param, type RestRequest, type RestResponse, type Route } from './route.ts'

/** The record of a chain: setting it (specification 4.1) and reading it. */

/** The parameter of the path that names a chain. */
export const chainParams = {
  chainID: about(
    'Bech32 text of an account or anchor address, behind any human-readable part.',
    bech32,
  ),
}

/** The header that guards against other writers. */
export const ifMatchHeader = {
  'If-Match': about('The tag of the record that is meant to be replaced, or `*` for any.', text),
}

/** The headers of an answer with a record. */
export const recordHeaders = { etag: 'names this version of the record; see `If-Match`' }

/** A record as it is answered. */
export const chainRecordShape = object({
  chainID: about('In lower case.', bech32),
  accessNodes: listOf(text, 1000),
  isActive: flag,
  version: about('1, 2, 3 … for each chain.', uint32),
  setBy: about('The subject of the token, or its fingerprint where it has none.', text),
  setAt: moment,
})

/** Sets the record of a chain. The checks come in this order: token, chain id, `If-Match`, body. */
export const setChainRecordRoute: Route = {
  method: 'POST',
  path: '/v1/chains/{chainID}/chainrecord',
  about: 'Sets the record of a chain, whole.',
  token: 'needed',
  params: chainParams,
  headers: ifMatchHeader,
  body: {
    'application/json': object({
      accessNodes: listOf({ ...text, minLength: 1, maxLength: 256 }, 1000),
      isActive: flag,
    }),
  },
  answers: {
    201: { about: 'The record as it is now.', json: chainRecordShape, headers: recordHeaders },
  },
  errors: [401, 403, 412, 413],
  answer: async (request, services) => {
    const identity = await request.caller.requireWrite()
    if (!identity.ok) return toRest(identity.error)
    const chainId = param(request, 'chainID')
    const named = parseChainId(chainId, 'chainID')
    if (!named.ok) return toRest(named.error)
    const onlyOver = readIfMatch(request)
    if (!onlyOver.ok) return toRest(onlyOver.error)
    const type = checkContentType(request.headers['content-type'], 'application/json')
    if (!type.ok) return toRest(type.error)
    const body = await request.body()
    if (!body.ok) return toRest(body.error)
    const record = parseJson(body.value)
    if (!record.ok) return toRest(record.error)
    const saved = await setChainRecord(services, {
      chainId,
      record: record.value,
      setBy: identity.value.name,
      onlyOver: onlyOver.value,
    })
    return saved.ok ? recordAnswer(201, saved.value) : toRest(saved.error)
  },
}

/** Reads the record of a chain. */
export const chainRecordRoute: Route = {
  method: 'GET',
  path: '/v1/chains/{chainID}/chainrecord',
  about: 'The record of a chain.',
  params: chainParams,
  answers: { 200: { about: 'The record.', json: chainRecordShape, headers: recordHeaders } },
  errors: [404],
  answer: async (request, services) => {
    const chainId = parseChainId(param(request, 'chainID'), 'chainID')
    if (!chainId.ok) return toRest(chainId.error)
    const record = await readChainRecord(services, chainId.value)
    if (!record.ok) return toRest(record.error)
    if (record.value !== undefined) return recordAnswer(200, record.value)
    return toRest({ code: 'CHAIN_RECORD_UNKNOWN', chainId: chainId.value })
  },
}

/** Answers with a record; the tag is its version. */
export function recordAnswer(status: number, record: ChainRecordView): RestResponse {
  return json(status, chainRecordJson(record), { etag: `"${record.version}"` })
}

/** A record in JSON. */
export function chainRecordJson(record: ChainRecordView) {
  const { chainId: chainID, accessNodes, isActive, version, setBy, setAt } = record
  return { chainID, accessNodes, isActive, version, setBy, setAt: new Date(setAt).toISOString() }
}

/** The versions that the caller means to replace. A weak tag is compared strongly here, and fits nothing. */
export function readIfMatch({
  headers,
}: RestRequest): Result<ChainRecordPrecondition | undefined, IfMatchMalformed> {
  const given = headers['if-match']
  if (given === undefined) return ok(undefined)
  if (given.trim() === '*') return ok('ANY')
  const tags = given.split(',').map((tag) => /^\s*(W\/)?"(.*)"\s*$/.exec(tag))
  if (tags.includes(null)) return err({ code: 'IF_MATCH_MALFORMED' })
  const strong = tags.flatMap((tag) => (tag?.[1] === undefined ? [tag?.[2] ?? ''] : []))
  return ok(strong.filter((tag) => /^[1-9][0-9]{0,9}$/.test(tag)).map(Number))
}
