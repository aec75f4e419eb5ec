import { nowMs } from '../../lib/clock.ts'
import { bodyFlag, bodyList, bodyObject, bodyValue } from '../../lib/json-body.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import type { ChainRecordVersion, NewChainRecord } from '../../store/rows.ts'
import type { Services } from '../services.ts'
import { type ChainIdError, parseChainId } from './chain-id.ts'

/** Sets the whole record of a chain (specification 4.1; design 6). */

/** Maximum number of access nodes of a record. */
export const maxAccessNodes = 1000

/** Maximum number of characters of an access node. */
export const maxAccessNodeLength = 256

/** Unpaired surrogates are refused: the database cannot store them unchanged. */
const accessNode = bodyValue(
  { type: 'string', minLength: 1, maxLength: maxAccessNodeLength },
  `a text of 1 to ${maxAccessNodeLength} characters without control characters`,
  (value): value is string => {
    if (typeof value !== 'string' || /[\p{Cc}\p{Cs}]/u.test(value)) return false
    const { length } = [...value]
    return length >= 1 && length <= maxAccessNodeLength
  },
)

/**
 * The record of a chain as its owner sets it (specification 2.1). Both members are required. Access nodes are stored as
 * sent: public keys, addresses or URLs.
 */
export const chainRecordBody = bodyObject(
  {
    accessNodes: bodyList(accessNode, maxAccessNodes, { values: 'texts', items: 'access nodes' }),
    isActive: bodyFlag,
  },
  'an object with accessNodes and isActive',
)

/** A malformed record; `member` is the path to the malformed value, such as `accessNodes.3`. */
export interface ChainRecordMalformed {
  readonly code: 'CHAIN_RECORD_MALFORMED'
  readonly member: string
  readonly expected: string
}

/** The present version of the record does not match the precondition of the caller. */
export interface ChainRecordStale {
  readonly code: 'CHAIN_RECORD_STALE'
  readonly chainId: string
  /** Version of the newest record; 0 if there is no record. */
  readonly version: number
}

/** Why a record was not set. */
export type SetChainRecordError = ChainIdError | ChainRecordMalformed | ChainRecordStale

/** Versions of a record: any existing version, or one of the listed versions. */
export type ChainRecordVersions = 'ANY' | readonly number[]

/** Preconditions against concurrent writers. */
export interface ChainRecordPreconditions {
  /** The only versions that may be replaced; without it, any present record is replaced. */
  readonly onlyOver?: ChainRecordVersions | undefined
  /** Versions that may not be replaced; `ANY` means that a record is only created. */
  readonly notOver?: ChainRecordVersions | undefined
}

/** A request to set a record. `record` is `unknown`, because `setChainRecord` checks it for all transports. */
export interface SetChainRecordRequest extends ChainRecordPreconditions {
  readonly chainId: string
  readonly record: unknown
  /** Name of the holder of the token. */
  readonly setBy: string
}

/** Checks a record and saves it as the next version. The chain id is checked before the record. */
export async function setChainRecord(
  deps: Pick<Services, 'store' | 'clock' | 'chainRecords'>,
  request: SetChainRecordRequest,
): Promise<Result<ChainRecordVersion, SetChainRecordError>> {
  const chainId = parseChainId(request.chainId, 'chainId')
  if (!chainId.ok) return chainId
  const record = chainRecordBody.read(request.record, 'body')
  if (!record.ok) return err({ code: 'CHAIN_RECORD_MALFORMED', ...record.error })
  const { setBy } = request
  const setAt = nowMs(deps.clock)
  const saved = await save(deps, { chainId: chainId.value, ...record.value, setBy, setAt }, request)
  if (saved.ok) deps.chainRecords.notify(saved.value.change)
  return saved
}

async function save(
  { store }: Pick<Services, 'store'>,
  record: NewChainRecord,
  { onlyOver, notOver }: ChainRecordPreconditions,
): Promise<Result<ChainRecordVersion, ChainRecordStale>> {
  if (onlyOver === undefined && notOver === undefined) {
    return ok(await store.write.setChainRecord(record))
  }
  const { chainId } = record
  for (;;) {
    const version = (await store.primary.chainRecord(chainId))?.version ?? 0
    if (!meetsPreconditions({ onlyOver, notOver }, version))
      return err({ code: 'CHAIN_RECORD_STALE', chainId, version })
    const replaced = await store.write.replaceChainRecord(record, version)
    if (replaced.ok) return replaced
  }
}

/** Whether a version may be replaced; 0 means that there is no record. */
export function meetsPreconditions(
  { onlyOver, notOver }: ChainRecordPreconditions,
  version: number,
): boolean {
  const isAmong = (versions: ChainRecordVersions) =>
    version > 0 && (versions === 'ANY' || versions.includes(version))
  return (
    (onlyOver === undefined || isAmong(onlyOver)) && (notOver === undefined || !isAmong(notOver))
  )
}
