import { nowMs } from '../../lib/clock.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import type { ChainRecordVersion } from '../../store/rows.ts'
import type { Services } from '../services.ts'
import { type ChainIdError, parseChainId } from './chain-id.ts'
import {
  type ChainRecordPreconditions,
  type ChainRecordStale,
  meetsPreconditions,
} from './set-chain-record.ts'

/** Makes a chain active or inactive; the rest of its record stays as it is (rest.md 2.1). */

/** A chain whose record was never set. */
export interface ChainRecordUnknown {
  readonly code: 'CHAIN_RECORD_UNKNOWN'
  readonly chainId: string
}

export interface ActivateChainRequest extends Pick<ChainRecordPreconditions, 'onlyOver'> {
  readonly chainId: string
  readonly isActive: boolean
  readonly setBy: string
}

/** Sets the active flag and returns the record. If the flag already has the value, nothing is written. */
export async function activateChain(
  deps: Pick<Services, 'store' | 'clock' | 'chainRecords'>,
  { chainId: text, isActive, setBy, onlyOver }: ActivateChainRequest,
): Promise<Result<ChainRecordVersion, ChainIdError | ChainRecordUnknown | ChainRecordStale>> {
  const parsed = parseChainId(text, 'chainId')
  if (!parsed.ok) return parsed
  const chainId = parsed.value
  // Another caller may set the record between the read and the write: read it again.
  for (;;) {
    const record = await deps.store.primary.chainRecord(chainId)
    if (record === undefined) return err({ code: 'CHAIN_RECORD_UNKNOWN', chainId })
    const { accessNodes, version } = record
    if (!meetsPreconditions({ onlyOver }, version))
      return err({ code: 'CHAIN_RECORD_STALE', chainId, version })
    if (record.isActive === isActive) return ok(record)
    const changed = { chainId, accessNodes, isActive, setBy, setAt: nowMs(deps.clock) }
    const replaced = await deps.store.write.replaceChainRecord(changed, version)
    if (!replaced.ok) continue
    deps.chainRecords.notify(replaced.value.change)
    return replaced
  }
}
