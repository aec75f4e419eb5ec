import type { Hex } from '../lib/hex.ts'
import { NativeToken } from '../protocol/features.ts'
import { addressKey } from '../protocol/ids.ts'
import type { Output } from '../protocol/outputs.ts'
import type { FoundryId, SlotIndex } from '../protocol/primitives.ts'
import { Expiration, StorageDepositReturn, Timelock } from '../protocol/unlock-conditions.ts'
import { conditionOf, featureOf } from './output-parts.ts'
import { ownerAt } from './updates.ts'

/** What an unspent output gives its owner, and how that changes by time alone (ledger reference 4.1, 5.1, 13.1). */

/**
 * One output as part of a balance. Its base tokens are in exactly one of the four parts, but that a storage deposit is
 * set apart from the rest.
 */
export interface Holding extends Parts {
  /** The key of the address that owns the output. */
  readonly owner: Hex
  readonly token: TokenHolding | undefined
}

/** Base tokens by what stands between them and their owner. */
export interface Parts {
  /** Nothing does. */
  readonly available: bigint
  /** A timelock that is not over: the whole output waits for it. */
  readonly timelocked: bigint
  /** To be given back to another address when the output is spent. */
  readonly storageDeposit: bigint
  /** An expiration that lies ahead: from then on the return address owns them, and shortly before it no address can spend them. */
  readonly expiring: bigint
}

/** The native tokens of an output; they are never part of a storage deposit. */
export interface TokenHolding {
  readonly tokenId: FoundryId
  readonly part: TokenPart
  readonly amount: bigint
}

/** The parts of a balance that native tokens can be in. */
export type TokenPart = 'available' | 'timelocked' | 'expiring'

/** What an output is to its owner once every slot below `reached` lies behind: a slot and the least committable age. */
export function holdingAt(output: Output, reached: SlotIndex): Holding {
  const owner = addressKey(ownerAt(output, reached))
  const part = partAt(output, reached)
  const deposit = part === 'timelocked' ? 0n : depositOf(output, owner)
  const rest = output.amount - deposit
  const feature = featureOf(output, NativeToken)
  return {
    owner,
    available: part === 'available' ? rest : 0n,
    timelocked: part === 'timelocked' ? rest : 0n,
    storageDeposit: deposit,
    expiring: part === 'expiring' ? rest : 0n,
    token: feature && { tokenId: feature.id, part, amount: feature.amount },
  }
}

function partAt(output: Output, reached: SlotIndex): TokenPart {
  const timelock = conditionOf(output, Timelock)
  if (timelock !== undefined && reached < timelock.slot) return 'timelocked'
  const expiration = conditionOf(output, Expiration)
  return expiration !== undefined && reached < expiration.slot ? 'expiring' : 'available'
}

/** An owner to whom the deposit would be returned owes nothing. */
function depositOf(output: Output, owner: Hex): bigint {
  const condition = conditionOf(output, StorageDepositReturn)
  if (condition === undefined || addressKey(condition.returnAddress) === owner) return 0n
  return condition.amount
}

/** The slots that a timelock and an expiration wait for; the holding changes when one of them is reached. */
export function slotsAwaited(output: Output): SlotIndex[] {
  const slots = [conditionOf(output, Timelock)?.slot, conditionOf(output, Expiration)?.slot]
  return [...new Set(slots.filter((slot) => slot !== undefined))]
}
