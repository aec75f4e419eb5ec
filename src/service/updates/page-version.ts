import type { LogTip, UpdateClass } from '../../store/rows.ts'
import { addressKeyOf } from '../addresses/address-key.ts'
import type { Services } from '../services.ts'

/** What the pages of some addresses depend on, read in far less time than the pages. */

/** The updates of one address and class. */
export interface UpdateList {
  /** Bech32. */
  readonly address: string
  readonly class: UpdateClass
}

/**
 * A text that is another one as soon as one of the lists, or what is kept of the log, is another one; with `isOfTip` as soon as a
 * slot is committed. `undefined` where an address is not one.
 */
export async function pageVersion(
  { store: { read }, parameters }: Pick<Services, 'store' | 'parameters'>,
  lists: readonly UpdateList[],
  isOfTip: boolean,
): Promise<string | undefined> {
  const tip = await read.logTip()
  if (isOfTip) return `${logOf(tip)} ${tip.commitmentId}`
  const parts = [logOf(tip)]
  for (const { address, class: updateClass } of lists) {
    const key = addressKeyOf(parameters.bech32Hrp, address, 'address')
    if (!key.ok) return undefined
    const { ordinal, historyHash } = await read.addressTip(key.value, updateClass)
    parts.push(`${ordinal} ${historyHash}`)
  }
  return parts.join(' ')
}

/** Removing rows changes pages too. */
function logOf({ logId, prunedSeq }: LogTip): string {
  return `${logId} ${prunedSeq}`
}
