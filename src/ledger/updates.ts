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

/** The addresses whose logs list the creation and the spending of an output (ledger reference 13). */

/** Why an update is filed under an address: its owner's (the original's list), or another role's. */
export type UpdateClass = 'OWNED' | 'MENTIONED'

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
 * One of them. OWNER is the address of the address condition even after an expiration, when the row's class
 * says that another address owns the output.
 */
export type Role = (typeof roles)[number]

/** One row of the log, as the ledger hands it to the store: still without its place in the log. */
export interface LogEntry {
  /** Address bytes without human-readable part; a multi address as its 33-byte reference. */
  readonly address: Hex
  readonly class: UpdateClass
  readonly roles: readonly Role[]
  readonly outputId: OutputId
  readonly isSpent: boolean
}

/** An output at the moment it is created or spent. */
export interface OutputMoment {
  readonly outputId: OutputId
  readonly output: Output
  readonly isSpent: boolean
  /** The slot it is booked in, or the slot it is spent in. */
  readonly slot: SlotIndex
}

/**
 * The rows of one moment in the order of the log, one for every address with a role in the output. The
 * addresses and their roles are the same at creation and at spending; only who is the owner may differ.
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
      roles: sharedList(roles.filter((role) => held.has(role))),
      outputId,
      isSpent,
    })
  }
  return entries.sort(compareLogEntries)
}

/** One list for all entries with these roles, of which there are few: a slot may have any number of entries. */
function sharedList(held: readonly Role[]): readonly Role[] {
  const key = held.join()
  const known = listByRoles.get(key) ?? held
  listByRoles.set(key, known)
  return known
}

const listByRoles = new Map<string, readonly Role[]>()

/** An output and its id. */
interface IdentifiedOutput {
  readonly outputId: OutputId
  readonly output: Output
}

/** The rows of the log that a slot makes, in their order. Lets the event loop turn. */
export async function slotEntries(
  parameters: { readonly minCommittableAge: number },
  slot: SlotIndex,
  outputs: {
    readonly created: readonly IdentifiedOutput[]
    readonly consumed: readonly IdentifiedOutput[]
  },
): Promise<LogEntry[]> {
  const made: LogEntry[] = []
  const add = (moved: readonly IdentifiedOutput[], isSpent: boolean) =>
    eachInTurns(moved, (one) => {
      for (const entry of logEntries(parameters, { ...one, isSpent, slot })) made.push(entry)
    })
  await add(outputs.created, false)
  await add(outputs.consumed, true)
  return inLogOrder(made)
}

/** The entries of a slot in the order of the log. Lets the event loop turn. */
export function inLogOrder(made: readonly LogEntry[]): Promise<LogEntry[]> {
  return inTurns(logOrderSteps(made))
}

/** The same in steps. */
export function* logOrderSteps(made: readonly LogEntry[]): Steps<LogEntry[]> {
  const parts = new Map<string, LogEntry[]>()
  // By the first bytes of the id, for sorting all at once would hold the loop.
  yield* paused(made, (entry) => {
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

/** Of three of them, behind `0x`: a large slot has some hundred entries a part. */
const digitsOfPart = 5

/**
 * The order of rows inside a slot: output id (transaction id as bytes, index as a number), created before
 * spent, owned before mentioned, address as bytes.
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
export function compareOutputIds(a: OutputId, b: OutputId): number {
  return compareText(transactionOf(a), transactionOf(b)) || indexOf(a) - indexOf(b)
}

/** Who owns the output once every slot below `reached` lies behind (ledger reference 13.1). */
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

/** An address and the role for which an output names it. */
export interface NamedRole {
  readonly role: Role
  readonly address: Address
}

/** The addresses that an output names itself: conditions, then the validator or the features, in their order. */
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

/** Every address with a role in the output, and what stands inside such an address, with all their roles. */
export function rolesByAddress(output: Output): Map<Hex, Set<Role>> {
  const held = new Map<Hex, Set<Role>>()
  const add = (role: Role, address: Address): void => {
    const filed = addressKey(address)
    const former = held.get(filed)
    if (former === undefined) held.set(filed, new Set([role]))
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

/** Lower-case hex compares like its bytes, a beginning before what it begins. */
function compareText(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
