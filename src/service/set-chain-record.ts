import { type Clock, nowMs } from '../lib/clock.ts'
import { err, ok, type Result } from '../lib/result.ts'
import type { StoreWriter } from '../store/contract.ts'
import type { ChainRecordVersion } from '../store/rows.ts'
import { type ChainIdError, parseChainId } from './chain-id.ts'

/** Sets the record of a chain, whole (specification 4.1; design 6). */

/** What setting a record needs. */
export interface SetChainRecordDeps {
  readonly store: { readonly write: Pick<StoreWriter, 'setChainRecord'> }
  readonly clock: Clock
}

/** The record of a chain as its owner sets it (specification 2.1). */
export interface ChainRecord {
  /** Kept as sent: public keys, addresses or URLs. */
  readonly accessNodes: readonly string[]
  readonly isActive: boolean
}

/** The most access nodes of a record. */
export const maxAccessNodes = 1000

/** The most characters of an access node. */
export const maxAccessNodeLength = 256

/** A record of the wrong form; `member` is the path to what is wrong, such as `accessNodes.3`. */
export interface ChainRecordMalformed {
  readonly code: 'CHAIN_RECORD_MALFORMED'
  readonly member: string
  readonly expected: string
}

/** Why a record was not set. */
export type SetChainRecordError = ChainIdError | ChainRecordMalformed

/** What is asked for. The record is unknown until it has been checked here, whichever door it came through. */
export interface SetChainRecordRequest {
  readonly chainId: string
  readonly record: unknown
  /** The holder of the token. */
  readonly setBy: string
}

/** Checks and saves a record as the next version of its chain's. The chain id is checked before the record. */
export async function setChainRecord(
  { store, clock }: SetChainRecordDeps,
  request: SetChainRecordRequest,
): Promise<Result<ChainRecordVersion, SetChainRecordError>> {
  const chainId = parseChainId(request.chainId, 'chainId')
  if (!chainId.ok) return chainId
  const record = parseChainRecord(request.record)
  if (!record.ok) return record
  const { setBy } = request
  return ok(
    await store.write.setChainRecord({
      chainId: chainId.value,
      ...record.value,
      setBy,
      setAt: nowMs(clock),
    }),
  )
}

/** Reads a record from JSON. Both members are required, others are ignored. */
function parseChainRecord(json: unknown): Result<ChainRecord, ChainRecordMalformed> {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    return malformed('body', 'an object with accessNodes and isActive')
  }
  const accessNodes = parseAccessNodes('accessNodes' in json ? json.accessNodes : undefined)
  if (!accessNodes.ok) return accessNodes
  const isActive = 'isActive' in json ? json.isActive : undefined
  if (typeof isActive !== 'boolean') return malformed('isActive', 'true or false')
  return ok({ accessNodes: accessNodes.value, isActive })
}

function parseAccessNodes(value: unknown): Result<readonly string[], ChainRecordMalformed> {
  if (!Array.isArray(value)) return malformed('accessNodes', 'a list of texts')
  if (value.length > maxAccessNodes) {
    return malformed('accessNodes', `at most ${maxAccessNodes} access nodes`)
  }
  const accessNodes: string[] = []
  for (const [i, accessNode] of value.entries()) {
    if (!isAccessNode(accessNode)) {
      const expected = `a text of 1 to ${maxAccessNodeLength} characters without control characters`
      return malformed(`accessNodes.${i}`, expected)
    }
    accessNodes.push(accessNode)
  }
  return ok(accessNodes)
}

/** Half of a surrogate pair is no character: the database could not keep it as sent. */
function isAccessNode(value: unknown): value is string {
  if (typeof value !== 'string' || /[\p{Cc}\p{Cs}]/u.test(value)) return false
  const { length } = [...value]
  return length >= 1 && length <= maxAccessNodeLength
}

function malformed(member: string, expected: string): Result<never, ChainRecordMalformed> {
  return err({ code: 'CHAIN_RECORD_MALFORMED', member, expected })
}
