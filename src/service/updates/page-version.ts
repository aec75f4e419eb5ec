import type { Hex } from '../../lib/hex.ts'
import type { UpdateClass } from '../../store/rows.ts'
import { noBranch } from '../../store/values.ts'
import { addressKeyOf } from '../addresses/address-key.ts'
import type { Services } from '../services.ts'

/** Version of the pages of some addresses, for caches; reading it takes far less time than reading the pages. */

/** The updates of one address and class. */
export interface UpdateList {
  readonly address: string
  readonly class: UpdateClass
}

/**
 * Returns a function that reads a version text. The text changes when one of the lists, the kept part of the log, or the
 * database changes; with `isOfTip`, at each commit. The function resolves to `undefined` if an address is malformed.
 */
export function pageVersion(
  { store: { read }, parameters }: Pick<Services, 'store' | 'parameters'>,
  lists: readonly UpdateList[],
  isOfTip: boolean,
): () => Promise<string | undefined> {
  if (isOfTip) return () => logVersion(read)
  const keys: (Pick<UpdateList, 'class'> & { readonly address: Hex })[] = []
  for (const { address, class: updateClass } of lists) {
    const key = addressKeyOf(parameters.bech32Hrp, address, 'address')
    if (!key.ok) return async () => undefined
    keys.push({ address: key.value, class: updateClass })
  }
  return async () => {
    const parts: string[] = []
    for (const key of keys) parts.push(await addressVersion(read, key))
    return parts.join(' ')
  }
}

/**
 * Reads a version of the whole log. It changes less often than the database, which changes whenever a process renews its lease.
 * Own versions of pages stay the same as long as this one does.
 */
export async function logVersion(read: Pick<Services['store']['read'], 'logTip'>): Promise<string> {
  const { logId, prunedSeq, seq, commitmentId } = await read.logTip()
  return [logId, prunedSeq, seq, commitmentId].join(' ')
}

/** Reads the version of the updates of one address and class. */
export async function addressVersion(
  read: Pick<Services['store']['read'], 'addressPage'>,
  key: Pick<UpdateList, 'class'> & { readonly address: Hex },
): Promise<string> {
  const { tip, count, rows } = await read.addressPage({ ...wholeList, ...key })
  // Includes the branch: another history may have the same rows at other positions.
  const [{ seq, branch, historyHash } = noRow] = rows
  return [tip.logId, tip.prunedSeq, count, seq, branch, historyHash].join(' ')
}

const wholeList = {
  after: 0,
  before: Number.MAX_SAFE_INTEGER,
  limit: 1,
  order: 'descending',
} as const

const noRow = { seq: 0, branch: noBranch, historyHash: '' }
