import { describe, expect, test } from 'vitest'
import {
  type AccountEvents,
  burnPriceSlot,
  changedAccounts,
} from '../../src/ledger/account-changes.ts'
import {
  type AccountEntry,
  accountEntryBytes,
  accountEntryFrom,
  delegationStakeOf,
  emptyEntry,
} from '../../src/ledger/accounts.ts'
import { Output } from '../../src/protocol/outputs.ts'
import { AccountId, OutputId } from '../../src/protocol/primitives.ts'
import { parsed } from '../support/parsed.ts'
import { semanticParameters } from '../support/semantic-parameters.ts'

/** Tests cases that the replays of the vectors, which use `verify`, do not cover. */

const parameters = semanticParameters('congested')
const accountId = parsed(AccountId, `0x${'11'.repeat(32)}`)
const other = parsed(AccountId, `0x${'22'.repeat(32)}`)
const key = `0x${'33'.repeat(32)}` as const
const outputId = parsed(OutputId, `0x${'44'.repeat(32)}050000000000`)
const account = parsed(Output, {
  type: 1,
  amount: '1',
  mana: '0',
  accountId,
  foundryCounter: 0,
  unlockConditions: [{ type: 0, address: { type: 0, pubKeyHash: key } }],
  features: [{ type: 6, expirySlot: 9, blockIssuerKeys: [{ type: 0, pubKeyHash: key }] }],
})
const delegation = parsed(Output, {
  type: 5,
  amount: '7',
  delegatedAmount: '7',
  delegationId: `0x${'00'.repeat(32)}`,
  validatorAddress: { type: 8, accountId: other },
  startEpoch: 1,
  endEpoch: 0,
  unlockConditions: [{ type: 0, address: { type: 0, pubKeyHash: key } }],
})
const nothing: AccountEvents = {
  slot: 100,
  allotments: [],
  created: [],
  consumed: [],
  blocks: [],
  burnPrice: 2n,
}
const entry: AccountEntry = { ...emptyEntry(accountId, 90), credits: 1_000n, keyHashes: [key] }

function change(events: Partial<AccountEvents>, entries: readonly AccountEntry[] = [entry]) {
  const byId = new Map(entries.map((one) => [one.accountId, one]))
  return changedAccounts(parameters, (id) => byId.get(id), { ...nothing, ...events })
}

describe('a slot', () => {
  test('without events changes no account, and neither does a validation block', () => {
    expect(change({})).toEqual(new Map())
    const block = { kind: 'validation', issuerId: accountId, version: 0, hash: key } as const
    expect(change({ blocks: [block] })).toEqual(new Map())
  })

  test('notes the hash of the first vote for a newer version', () => {
    const vote = { kind: 'validation', issuerId: accountId, version: 4 } as const
    const blocks = [
      { ...vote, hash: `0x${'01'.repeat(32)}` as const },
      { ...vote, hash: `0x${'02'.repeat(32)}` as const },
    ]
    expect(change({ blocks }).get(accountId)).toMatchObject({
      supportedVersion: 4,
      supportedHash: `0x${'01'.repeat(32)}`,
    })
  })

  test('charges a block at the price of the past, and an allotment may pay for it', () => {
    const block = { kind: 'basic', issuerId: accountId, workScore: 30 } as const
    expect(change({ blocks: [block] }).get(accountId)).toEqual({
      ...entry,
      credits: 940n,
      updatedSlot: 100,
    })
    const paid = { blocks: [block], allotments: [{ accountId, mana: 60n }] }
    expect(change(paid)).toEqual(new Map())
  })

  test.each([
    ['an allotment', 2n ** 63n - 1n, { allotments: [{ accountId, mana: 2n ** 63n - 1n }] }],
    ['a block', -(2n ** 63n), { blocks: [{ kind: 'basic', issuerId: accountId, workScore: 30 }] }],
  ] as const)(
    'wraps credits that %s takes out of 64 bits, as their stored form does',
    (_name, credits, events) => {
      const changed = change(events, [{ ...entry, credits }]).get(accountId)
      expect(changed && accountEntryFrom(accountEntryBytes(changed))).toEqual(changed)
    },
  )

  test('charges nothing for a block of an account that no longer exists', () => {
    const block = { kind: 'basic', issuerId: other, workScore: 30 } as const
    expect(change({ blocks: [block] })).toEqual(new Map())
  })

  test('deletes an account together with its allotments of the same slot', () => {
    const consumed = [{ outputId, output: account }]
    const events = { consumed, allotments: [{ accountId, mana: 60n }] }
    expect(change(events)).toEqual(new Map([[accountId, undefined]]))
  })

  test('ignores accounts and delegations that begin and end in it', () => {
    const both = [
      { outputId, output: account },
      { outputId, output: delegation },
    ]
    expect(change({ created: both, consumed: both }, [])).toEqual(new Map())
  })

  test('subtracts a delegation from an account that has lost its entry, whose delegations are then none', () => {
    const ended = change({ consumed: [{ outputId, output: delegation }] }, []).get(other)
    const stored = ended && accountEntryFrom(accountEntryBytes(ended))
    expect(stored).toEqual({ ...emptyEntry(other, 100), delegationStake: -7n })
    expect(stored && delegationStakeOf(stored)).toBe(0n)
  })

  test('reads only the accounts that its events name', () => {
    const events: AccountEvents = {
      ...nothing,
      created: [{ outputId, output: delegation }],
      consumed: [{ outputId, output: account }],
      blocks: [{ kind: 'basic', issuerId: other, workScore: 1 }],
      allotments: [{ accountId, mana: 1n }],
    }
    const read = new Set<AccountId>()
    changedAccounts(
      parameters,
      (id) => {
        read.add(id)
        return undefined
      },
      events,
    )
    expect(read).toEqual(new Set([accountId, other]))
  })
})

test('the price of a block is that of the oldest slot to which a block may commit, or of the genesis slot at the beginning', () => {
  expect([3, 6, 7, 100].map((slot) => burnPriceSlot(parameters, slot))).toEqual([0, 0, 1, 94])
})
