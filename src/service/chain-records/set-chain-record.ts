import { nowMs } from '../../lib/clock.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import type { NewChainRecord } from '../../store/contract.ts'
import type { ChainRecordVersion } from '../../store/rows.ts'
import type { Services } from '../services.ts'
import { type ChainIdError, parseChainId } from './chain-id.ts'

/** Sets the record of a chain, whole (specification 4.1; design 6). */

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

/** The record is not the one that the caller means to replace. */
export interface ChainRecordStale {
  readonly code: 'CHAIN_RECORD_STALE'
  readonly chainId: string
  /** Of the newest record; 0 where there is none. */
  readonly version: number
}

/** Why a record was not set. */
export type SetChainRecordError = ChainIdError | ChainRecordMalformed | ChainRecordStale

/** Which record may be replaced: any that is there, or one of these versions. */
export type ChainRecordPrecondition = 'ANY' | readonly number[]

/** The record to set. It is `unknown` until it is checked here, for every transport alike. */
export interface SetChainRecordRequest {
  readonly chainId: string
  readonly record: unknown
  /** The holder of the token. */
  readonly setBy: string
  /** Guards against other writers; left out: whatever is there is replaced. */
  readonly onlyOver?: ChainRecordPrecondition | undefined
}

/** Checks and saves a record as the next version of its chain's. The chain id is checked before the record. */
export async function setChainRecord(
  deps: Pick<Services, 'store' | 'clock' | 'chainRecords'>,
  request: SetChainRecordRequest,
): Promise<Result<ChainRecordVersion, SetChainRecordError>> {
  const chainId = parseChainId(request.chainId, 'chainId')
  if (!chainId.ok) return chainId
  const record = parseChainRecord(request.record)
  if (!record.ok) return record
  const { setBy, onlyOver } = request
  const setAt = nowMs(deps.clock)
  const saved = await save(
    deps,
    { chainId: chainId.value, ...record.value, setBy, setAt },
    onlyOver,
  )
  if (saved.ok) deps.chainRecords.notify(saved.value.change)
  return saved
}

async function save(
  { store }: Pick<Services, 'store'>,
  record: NewChainRecord,
  onlyOver: ChainRecordPrecondition | undefined,
): Promise<Result<ChainRecordVersion, ChainRecordStale>> {
  if (onlyOver === undefined) return ok(await store.write.setChainRecord(record))
  const { chainId } = record
  for (;;) {
    const version = (await store.read.chainRecord(chainId))?.version ?? 0
    if (!fits(onlyOver, version)) return err({ code: 'CHAIN_RECORD_STALE', chainId, version })
    const replaced = await store.write.replaceChainRecord(record, version)
    if (replaced.ok) return replaced
  }
}

/** Whether a version may be replaced; 0 means that there is no record. */
export function fits(onlyOver: ChainRecordPrecondition | undefined, version: number): boolean {
  if (onlyOver === undefined) return true
  return version > 0 && (onlyOver === 'ANY' || onlyOver.includes(version))
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
