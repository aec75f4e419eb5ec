import { present } from '../../src/lib/assert.ts'
import type {
  AccountAddress,
  Address,
  Ed25519Address,
  MultiAddress,
  RestrictedAddress,
} from '../../src/protocol/addresses.ts'
import { addressKey } from '../../src/protocol/ids.ts'
import type { BasicOutput, Output } from '../../src/protocol/outputs.ts'
import type { AccountId, AnchorId, FoundryId, SlotIndex } from '../../src/protocol/primitives.ts'
import type { Random } from './random.ts'
import { testId } from './store-rows.ts'

/** Random outputs of all types that few addresses own, with conditions whose slots are close to a given slot. Some are unspendable. */

/** The Ed25519 addresses in random outputs. */
export const randomAddresses: readonly Ed25519Address[] = [0, 1, 2, 3].map((n) => ({
  type: 0,
  pubKeyHash: testId('Address', 32, 100 + n),
}))

/** The accounts that own random foundries, and the validators of random delegations. */
export const randomAccounts: readonly AccountAddress[] = [0, 1].map((n) => ({
  type: 8,
  accountId: testId('AccountId', 32, 200 + n),
}))

/** Addresses of all other kinds that may own an output. The last is one of the longest addresses. Members are owners themselves. */
const otherAddresses: readonly Address[] = [
  { type: 16, nftId: testId('NftId', 32, 300) },
  { type: 24, anchorId: testId('AnchorId', 32, 301) },
  multiAddress([...randomAddresses.slice(2), ...randomAccounts.slice(1)]),
  restricted(present(randomAddresses[1], 'an address')),
  restricted(multiAddress(membersWith(randomAddresses.slice(3)))),
]

/** All owners of random outputs. */
export const randomOwners: readonly Address[] = [
  ...randomAddresses,
  ...randomAccounts,
  ...otherAddresses,
]

/** The native tokens of random outputs. */
export const randomTokens: readonly FoundryId[] = [0, 1].map((n) => testId('FoundryId', 38, n))

/** A random output; the slots of its conditions are at most `spread` before or after `slot`. */
export function randomOutput(random: Random, slot: SlotIndex, spread: number): Output {
  switch (random.between(0, 8)) {
    case 0:
      return {
        type: 1,
        ...value(random),
        accountId: testId('AccountId', 32, random.between(0, 999)) as AccountId,
        foundryCounter: 0,
        unlockConditions: [{ type: 0, address: anyAddress(random) }],
        features: [],
        immutableFeatures: [{ type: 1, address: anyAddress(random) }],
      }
    case 1:
      return {
        type: 2,
        ...value(random),
        anchorId: testId('AnchorId', 32, random.between(0, 999)) as AnchorId,
        stateIndex: 0,
        unlockConditions: [
          { type: 4, address: anyAddress(random) },
          { type: 5, address: anyAddress(random) },
        ],
        features: [],
        immutableFeatures: [],
      }
    case 2:
      return {
        type: 3,
        amount: value(random).amount,
        serialNumber: random.between(1, 999),
        tokenScheme: { type: 0, mintedTokens: 9n, meltedTokens: 0n, maximumSupply: 9n },
        unlockConditions: [{ type: 6, address: pick(random, randomAccounts) }],
        features: tokens(random),
        immutableFeatures: [],
      }
    case 3:
      return {
        type: 5,
        amount: 700n,
        delegatedAmount: 700n,
        delegationId: testId('DelegationId', 32, random.between(0, 999)),
        validatorAddress: pick(random, randomAccounts),
        startEpoch: 1,
        endEpoch: 0,
        unlockConditions: [{ type: 0, address: anyAddress(random) }],
      }
    case 4:
      return {
        type: 4,
        ...value(random),
        nftId: testId('NftId', 32, random.between(0, 999)),
        unlockConditions: conditions(random, slot, spread),
        features: tags(random),
        immutableFeatures: [],
      }
    default:
      return {
        type: 0,
        ...value(random),
        unlockConditions: conditions(random, slot, spread),
        features: [...senders(random), ...tags(random), ...tokens(random)],
      }
  }
}

type Conditions = BasicOutput['unlockConditions']
type Features = BasicOutput['features']

function conditions(random: Random, slot: SlotIndex, spread: number): Conditions {
  const aroundNow = () => Math.max(1, slot + random.between(-spread, spread))
  const some = (one: () => Conditions[number]) => (random.between(0, 2) === 0 ? [one()] : [])
  return [
    { type: 0, address: anyAddress(random) },
    ...some(() => ({ type: 1, returnAddress: anyAddress(random), amount: 70n })),
    ...some(() => ({ type: 2, slot: aroundNow() })),
    ...some(() => ({ type: 3, returnAddress: anyAddress(random), slot: aroundNow() })),
  ]
}

function value(random: Random) {
  return { amount: BigInt(random.between(100, 2_000)), mana: BigInt(random.between(0, 10)) }
}

function senders(random: Random): Features {
  return random.between(0, 3) === 0 ? [{ type: 0, address: anyAddress(random) }] : []
}

function tags(random: Random): readonly { readonly type: 4; readonly tag: `0x${string}` }[] {
  return random.between(0, 3) === 0
    ? [{ type: 4, tag: random.between(0, 1) ? '0x01' : '0x02' }]
    : []
}

function tokens(random: Random) {
  if (random.between(0, 2) > 0) return []
  const amount = BigInt(random.between(1, 50)) << 200n
  return [{ type: 5, id: pick(random, randomTokens), amount }] as const
}

function anyAddress(random: Random): Address {
  const kind = random.between(0, 9)
  return pick<Address>(
    random,
    kind === 0 ? randomAccounts : kind === 1 ? otherAddresses : randomAddresses,
  )
}

/** The address of members with one vote each, of which any may unlock it. */
function multiAddress(members: readonly (Ed25519Address | AccountAddress)[]): MultiAddress {
  const sorted = members.toSorted((a, b) => (addressKey(a) < addressKey(b) ? -1 : 1))
  return { type: 40, addresses: sorted.map((address) => ({ address, weight: 1 })), threshold: 1 }
}

/** As many members as a multi address may have, among them the given ones. */
function membersWith(given: readonly Ed25519Address[]): readonly Ed25519Address[] {
  const others = Array.from({ length: 10 - given.length }, (_, n) => ({
    type: 0 as const,
    pubKeyHash: testId('Address', 32, 400 + n),
  }))
  return [...given, ...others]
}

/** Restricts an address to all kinds of outputs. The official client rejects an output that its address does not accept. */
function restricted(address: RestrictedAddress['address']): RestrictedAddress {
  return { type: 48, address, allowedCapabilities: '0xff01' }
}

function pick<T>(random: Random, list: readonly T[]): T {
  const first = list[random.between(0, list.length - 1)]
  if (first === undefined) throw new Error('nothing to pick')
  return first
}
