import type { Hex } from '../lib/hex.ts'
import { NativeToken } from '../protocol/features.ts'
import { addressKey } from '../protocol/ids.ts'
import type { Output } from '../protocol/outputs.ts'
import type { FoundryId, SlotIndex } from '../protocol/primitives.ts'
import { Expiration, StorageDepositReturn, Timelock } from '../protocol/unlock-conditions.ts'
import { conditionOf, featureOf } from './output-parts.ts'
import { ownerAt } from './updates.ts'

/** The holding that an unspent output gives its owner, and its changes by time (ledger reference 4.1, 5.1, 13.1). */

/**
 * One output as part of a balance. Its base tokens are in exactly one of the four parts, except that a storage deposit is counted
 * separately from the rest.
 */
export interface Holding extends Parts {
  /** The key of the address that owns the output. */
  readonly owner: Hex
  readonly token: TokenHolding | undefined
}

/** Base tokens by the restriction that applies to their owner. */
export interface Parts {
  /** Tokens without a restriction. */
  readonly available: bigint
  /** Tokens of outputs with a running timelock, which locks the whole output. */
  readonly timelocked: bigint
  /** Tokens that must be returned to another address when the output is spent. */
  readonly storageDeposit: bigint
  /**
   * Tokens of outputs with a future expiration. The return address owns them from the expiration on, and shortly before it no address
   * can spend them.
   */
  readonly expiring: bigint
}

/** The native tokens of an output. They are never part of a storage deposit. */
export interface TokenHolding {
  readonly tokenId: FoundryId
  readonly part: TokenPart
  readonly amount: bigint
}

/** The parts of a balance that native tokens can be in. */
export type TokenPart = 'available' | 'timelocked' | 'expiring'

/**
 * The holding of an output when all slots before `reached` have passed. For the end of a slot, `reached` is the slot plus
 * `minCommittableAge`.
 */
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

/** The deposit to return; 0 if the owner is the return address. */
function depositOf(output: Output, owner: Hex): bigint {
  const condition = conditionOf(output, StorageDepositReturn)
  if (condition === undefined || addressKey(condition.returnAddress) === owner) return 0n
  return condition.amount
}

/** The slots of the timelock and the expiration. The holding changes when one of them is reached. */
export function slotsAwaited(output: Output): SlotIndex[] {
  const slots = [conditionOf(output, Timelock)?.slot, conditionOf(output, Expiration)?.slot]
  return [...new Set(slots.filter((slot) => slot !== undefined))]
}
