import { assert } from '../../src/lib/assert.ts'
import { guardClock } from '../../src/lib/guarded-clock.ts'
import { type Log, silentLog } from '../../src/lib/log.ts'
import { openEmbedded } from '../../src/node/embedded/open.ts'
import { stateMemoryOf } from '../../src/node/embedded/state.ts'
import type { GenesisPlan } from '../../src/node/genesis.ts'
import type { IssuerAccount } from '../../src/node/issuer.ts'
import { openSignatureChecker } from '../../src/node/signatures.ts'
import type { LedgerSource } from '../../src/node/source.ts'
import type { Store } from '../../src/store/contract.ts'
import { openedStore } from './databases.ts'
import { createSettableClock, type SettableClock } from './settable-clock.ts'

/** An embedded ledger on one database with a settable clock. The test can close and reopen it at any slot. */
export interface EmbeddedLedger {
  readonly clock: SettableClock
  /** The current store and source; `restart` replaces both. */
  at(): { readonly store: Store; readonly source: LedgerSource }
  /** Resolves after a slot is committed. */
  untilCommitted(slot: number): Promise<void>
  restart(): Promise<void>
  close(): Promise<void>
}

export interface EmbeddedLedgerOptions {
  readonly startSeconds: number
  readonly genesis: GenesisPlan
  readonly issuer?: IssuerAccount | undefined
  readonly log?: Log
}

export async function openEmbeddedLedger(
  url: string,
  { startSeconds, genesis, issuer, log = silentLog }: EmbeddedLedgerOptions,
): Promise<EmbeddedLedger> {
  const clock = createSettableClock(BigInt(startSeconds) * 1_000_000_000n)
  const signatures = openSignatureChecker({ queueLimit: 10 })
  let wake = () => {}
  let opened = await reopen()

  async function reopen() {
    const store = await openedStore(url)
    const guarded = guardClock({ clock, log })
    const deps = { store, clock: guarded, log, signatures, holder: 'test:1' }
    const source = await openEmbedded(
      { ...deps, onCommitted: () => wake() },
      { genesis, networkName: undefined, issuer, memory: stateMemoryOf(0) },
    )
    assert(source.ok, 'the ledger opens')
    return { store, source: source.value }
  }

  const committed = () => opened.source.status().latestCommittedSlot

  async function untilCommitted(slot: number): Promise<void> {
    while (committed() < slot) {
      await new Promise<void>((resolve) => {
        wake = resolve
        if (committed() >= slot) resolve()
      })
    }
  }

  async function shut(): Promise<void> {
    await opened.source.close()
    await opened.store.close()
  }

  return {
    clock,
    at: () => opened,
    untilCommitted,
    restart: async () => {
      await shut()
      opened = await reopen()
    },
    close: async () => {
      await shut()
      await signatures.close()
    },
  }
}
