import { present } from '../lib/assert.ts'
import type { Hex } from '../lib/hex.ts'
import { eachInTurns, inTurns, paused, type Steps } from '../lib/turns.ts'
import { type Address, MultiAddress, RestrictedAddress } from '../protocol/addresses.ts'
import { Issuer, Sender } from '../protocol/features.ts'
import { addressKey, indexOf, transactionOf } from '../protocol/ids.ts'
import { is } from '../protocol/is.ts'
import { DelegationOutput, type Output } from '../protocol/outputs.ts'
import type { OutputId, SlotIndex } from '../protocol/primitives.ts'
import { featuresOf, immutableFeaturesOf } from '../protocol/score.ts'
import {
  AddressUnlock,
  Expiration,
  Governor,
  ImmutableAccount,
  StateController,
  StorageDepositReturn,
  Timelock,
} from '../protocol/unlock-conditions.ts'
import type { LedgerOutput } from './output-parts.ts'

/** The addresses whose logs list the creation and the spending of an output (ledger reference 13). */

/** Why an update is listed for an address: the address owns the output, or has another role in it. In log order. */
export const updateClasses = ['OWNED', 'MENTIONED'] as const
export type UpdateClass = (typeof updateClasses)[number]

/** The roles an address can have in an output (ledger reference 13.2), in the order in which a row lists them. */
export const roles = [
  'OWNER',
  'STATE_CONTROLLER',
  'GOVERNOR',
  'STORAGE_DEPOSIT_RETURN',
  'EXPIRATION_RETURN',
  'SENDER',
  'ISSUER',
  'VALIDATOR',
  'MULTI_MEMBER',
  'RESTRICTED_INNER',
] as const

/**
 * A role of an address. OWNER is the address of the address condition, even after an expiration, when the class of the row shows that
 * another address owns the output.
 */
export type Role = (typeof roles)[number]

/** Converts roles to a bit mask. The bit of a role is its index in `roles`, to which new roles may only be appended. */
export function rolesToMask(listed: Iterable<Role>): number {
  let mask = 0
  for (const role of listed) mask |= 1 << roles.indexOf(role)
  return mask
}

/** Converts a bit mask to roles, in their fixed order. Returns the same list for the same mask. */
export function maskToRoles(mask: number): readonly Role[] {
  const known = rolesByMask[mask]
  if (known !== undefined) return known
  const found = roles.filter((_role, bit) => (mask & (1 << bit)) !== 0)
  rolesByMask[mask] = found
  return found
}

/** Lists of roles by mask, which all entries share. There are at most 1,024 masks, few of them occur, and a slot has many entries. */
const rolesByMask: (readonly Role[])[] = []

/** One row of the log before the store assigns its log position. */
export interface LogEntry {
  /** Address bytes without human-readable part. A multi address is given by its 33-byte reference. */
  readonly address: Hex
  readonly class: UpdateClass
  readonly roles: readonly Role[]
  readonly outputId: OutputId
  readonly isSpent: boolean
}

/** Log entries in log order: a list, or a more compact form of one. */
export interface LogEntries extends Iterable<LogEntry> {
  readonly length: number
}

/** The creation or the spending of an output. */
export interface OutputMoment extends LedgerOutput {
  readonly isSpent: boolean
  /** The slot that creates or spends the output. */
  readonly slot: SlotIndex
}

/**
 * Returns the rows of one creation or spending in log order, one row per address with a role in the output. The addresses and their
 * roles are the same at creation and at spending; only the owner may differ.
 */
export function logEntries(
  parameters: { readonly minCommittableAge: number },
  moment: OutputMoment,
): LogEntry[] {
  const { output, outputId, isSpent, slot } = moment
  const owner = addressKey(ownerAt(output, slot + parameters.minCommittableAge))
  const entries: LogEntry[] = []
  for (const [address, held] of rolesByAddress(output)) {
    entries.push({
      address,
      class: address === owner ? 'OWNED' : 'MENTIONED',
      roles: maskToRoles(rolesToMask(held)),
      outputId,
      isSpent,
    })
  }
  return entries.sort(compareLogEntries)
}

/** Returns the log rows of a slot in log order. Yields to the event loop. */
export async function slotEntries(
  parameters: { readonly minCommittableAge: number },
  slot: SlotIndex,
  outputs: {
    readonly created: readonly LedgerOutput[]
    readonly consumed: readonly LedgerOutput[]
  },
): Promise<LogEntry[]> {
  const entries: LogEntry[] = []
  const add = (moved: readonly LedgerOutput[], isSpent: boolean) =>
    eachInTurns(moved, (output) => {
      for (const entry of logEntries(parameters, { ...output, isSpent, slot })) entries.push(entry)
    })
  await add(outputs.created, false)
  await add(outputs.consumed, true)
  return inTurns(logOrderSteps(entries))
}

/** Sorts the entries of a slot in log order, in steps. */
export function* logOrderSteps(entries: readonly LogEntry[]): Steps<LogEntry[]> {
  const parts = new Map<string, LogEntry[]>()
  // Divides the entries by the first digits of the id, because sorting all of them in one step would block the event loop.
  yield* paused(entries, (entry) => {
    const first = entry.outputId.slice(0, digitsOfPart)
    const part = parts.get(first)
    if (part === undefined) parts.set(first, [entry])
    else part.push(entry)
  })
  const sorted: LogEntry[] = []
  for (const [, part] of [...parts].sort(([a], [b]) => compareText(a, b))) {
    for (const entry of part.sort(compareLogEntries)) sorted.push(entry)
    yield undefined
  }
  return sorted
}

/** Length of `0x` and three digits. A part of a large slot has a few hundred entries. */
const digitsOfPart = 5

/**
 * The order of rows within a slot: by output id (transaction id as bytes, index as a number), created before spent, owned before
 * mentioned, and by address as bytes.
 */
export function compareLogEntries(a: LogEntry, b: LogEntry): number {
  return (
    compareOutputIds(a.outputId, b.outputId) ||
    Number(a.isSpent) - Number(b.isSpent) ||
    compareText(b.class, a.class) ||
    compareText(a.address, b.address)
  )
}

/** The order of output ids: transaction id as bytes, then the index as a number. */
function compareOutputIds(a: OutputId, b: OutputId): number {
  return compareText(transactionOf(a), transactionOf(b)) || indexOf(a) - indexOf(b)
}

/** The owner of an output when all slots before `reached` have passed (ledger reference 13.1). */
export function ownerAt(output: Output, reached: SlotIndex): Address {
  let owner: Address | undefined
  for (const condition of output.unlockConditions) {
    switch (condition.type) {
      case AddressUnlock.code:
      case StateController.code:
      case ImmutableAccount.code:
        owner = condition.address
        break
      case Expiration.code:
        if (reached >= condition.slot) owner = condition.returnAddress
        break
      default:
    }
  }
  return present(owner, 'the owner of an output')
}

/** An address that an output names, and its role. */
export interface NamedRole {
  readonly role: Role
  readonly address: Address
}

/** The addresses that an output names directly: by its unlock conditions, then its validator or its features, in order. */
export function namedRoles(output: Output): NamedRole[] {
  const named: NamedRole[] = []
  for (const condition of output.unlockConditions) {
    if (is(Timelock, condition)) continue
    const address = 'address' in condition ? condition.address : condition.returnAddress
    named.push({ role: roleOfCondition[condition.type], address })
  }
  if (is(DelegationOutput, output))
    named.push({ role: 'VALIDATOR', address: output.validatorAddress })
  for (const feature of [...featuresOf(output), ...immutableFeaturesOf(output)]) {
    if (is(Sender, feature)) named.push({ role: 'SENDER', address: feature.address })
    if (is(Issuer, feature)) named.push({ role: 'ISSUER', address: feature.address })
  }
  return named
}

/** Every address with a role in the output, including addresses inside multi and restricted addresses, with all roles. */
export function rolesByAddress(output: Output): Map<Hex, Set<Role>> {
  const held = new Map<Hex, Set<Role>>()
  const add = (role: Role, address: Address): void => {
    const key = addressKey(address)
    const former = held.get(key)
    if (former === undefined) held.set(key, new Set([role]))
    else former.add(role)
    if (is(RestrictedAddress, address)) add('RESTRICTED_INNER', address.address)
    if (is(MultiAddress, address))
      for (const member of address.addresses) add('MULTI_MEMBER', member.address)
  }
  for (const { role, address } of namedRoles(output)) add(role, address)
  return held
}

const roleOfCondition = {
  [AddressUnlock.code]: 'OWNER',
  [StorageDepositReturn.code]: 'STORAGE_DEPOSIT_RETURN',
  [Expiration.code]: 'EXPIRATION_RETURN',
  [StateController.code]: 'STATE_CONTROLLER',
  [Governor.code]: 'GOVERNOR',
  [ImmutableAccount.code]: 'OWNER',
} as const

/** Lower-case hex compares like its bytes, and a prefix sorts before a longer text. */
function compareText(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
