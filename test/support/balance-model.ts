import { present } from '../../src/lib/assert.ts'
import type { Hex } from '../../src/lib/hex.ts'
import type { Address } from '../../src/protocol/addresses.ts'
import { addressKey } from '../../src/protocol/ids.ts'
import type { Output } from '../../src/protocol/outputs.ts'
import type { OutputId, SlotIndex } from '../../src/protocol/primitives.ts'
import type { UnlockCondition } from '../../src/protocol/unlock-conditions.ts'

/** Balances by definition: the model scans all outputs for every slot. */

/** An output with the slots in which it was booked and spent; an unspent output has no spent slot. */
export interface ModelOutput {
  readonly outputId: OutputId
  readonly output: Output
  readonly bookedSlot: SlotIndex
  readonly spentSlot?: SlotIndex | undefined
}

/** The balance of an address. */
export interface ModelBalance {
  total: bigint
  available: bigint
  timelocked: bigint
  storageDeposit: bigint
  expiring: bigint
  outputs: number
  /** By token id. */
  readonly tokens: Record<string, ModelTokens>
}

interface ModelTokens {
  available: bigint
  timelocked: bigint
  expiring: bigint
}

/** The balance of an address without outputs. */
export function emptyBalance(): ModelBalance {
  return {
    total: 0n,
    available: 0n,
    timelocked: 0n,
    storageDeposit: 0n,
    expiring: 0n,
    outputs: 0,
    tokens: {},
  }
}

/** The outputs that exist at the end of a slot. */
export function unspentAt<T extends ModelOutput>(outputs: readonly T[], slot: SlotIndex): T[] {
  return outputs.filter(
    ({ bookedSlot, spentSlot = Number.POSITIVE_INFINITY }) =>
      bookedSlot <= slot && spentSlot > slot,
  )
}

/** The owner of an output at the end of a slot. */
export function ownerInSlot(output: Output, slot: SlotIndex, minCommittableAge: number): Hex {
  const expiration = condition(output, 3)
  const isExpired = expiration !== undefined && slot + minCommittableAge >= expiration.slot
  return addressKey(isExpired ? expiration.returnAddress : holderAsWritten(output))
}

/** The balance of every address that owns outputs at the end of a slot. */
export function balancesAt(
  outputs: readonly ModelOutput[],
  slot: SlotIndex,
  minCommittableAge: number,
): Map<Hex, ModelBalance> {
  const balances = new Map<Hex, ModelBalance>()
  for (const { output } of unspentAt(outputs, slot)) {
    const owner = ownerInSlot(output, slot, minCommittableAge)
    const balance = balances.get(owner) ?? emptyBalance()
    balances.set(owner, balance)
    add(balance, output, { owner, reached: slot + minCommittableAge })
  }
  return balances
}

function add(
  balance: ModelBalance,
  output: Output,
  { owner, reached }: { readonly owner: Hex; readonly reached: number },
): void {
  const timelock = condition(output, 2)
  const expiration = condition(output, 3)
  const deposit = condition(output, 1)
  const isLocked = timelock !== undefined && timelock.slot > reached
  const isExpiring = expiration !== undefined && expiration.slot > reached
  const part = isLocked ? 'timelocked' : isExpiring ? 'expiring' : 'available'
  balance.outputs += 1
  balance.total += output.amount
  balance[part] += output.amount
  if (!isLocked && deposit !== undefined && addressKey(deposit.returnAddress) !== owner) {
    balance[part] -= deposit.amount
    balance.storageDeposit += deposit.amount
  }
  if (output.type !== 0 && output.type !== 3) return
  for (const feature of output.features) {
    if (feature.type !== 5) continue
    const tokens = balance.tokens[feature.id] ?? { available: 0n, timelocked: 0n, expiring: 0n }
    balance.tokens[feature.id] = tokens
    tokens[part] += feature.amount
  }
}

function holderAsWritten(output: Output): Address {
  const type = output.type === 2 ? 4 : output.type === 3 ? 6 : 0
  return present(condition(output, type), 'a holder').address
}

function condition<T extends UnlockCondition['type']>(output: Output, type: T) {
  const conditions: readonly UnlockCondition[] = output.unlockConditions
  return conditions.find(
    (one): one is Extract<UnlockCondition, { readonly type: T }> => one.type === type,
  )
}
