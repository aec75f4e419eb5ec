import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { present } from '../../src/lib/assert.ts'
import { slotOfId } from '../../src/protocol/ids.ts'
import type { CommitmentId, OutputId, TransactionId } from '../../src/protocol/primitives.ts'
import type { SignedTransaction } from '../../src/protocol/transaction.ts'
import { graphql } from '../support/client.ts'
import {
  fundFromFaucet,
  type LedgerWorld,
  startWorld,
  worldParameters,
} from '../support/ledger-world.ts'
import { until } from '../support/until.ts'
import { getJson, ownedBy, paymentOf, type SignedPayment, user } from '../support/wallet.ts'

/**
 * What becomes of one transaction that several blocks carry, with right and wrong unlocks, before and after what it spends
 * is there. The verdicts are those of the node (iota-core `mempool/v1`, `retainer/txretainer`; ledger reference 3.3).
 */

/** The steps of a case, and behind each what the transaction says then: its state, and the number of its block from 0. */
type Script = readonly (readonly [step: Step, told: string])[]

/**
 * A block is booked that carries the transaction: signed rightly, by another key (5), with an unlock of another kind (7);
 * or the transaction it spends from, or another that spends the same. Or time passes: until the slot of the last block is
 * committed, or a single slot.
 */
type Step = 'right' | 'wrongKey' | 'wrongUnlock' | 'parent' | 'rival' | 'commit' | 'slot'

/** What the transaction spends and creates. */
interface Shape {
  /** An output of the parent, which is 2 where the parent does not have it. */
  readonly index?: 0 | 2
  /** It makes base tokens from nothing: 14. */
  readonly isUnbalanced?: boolean
  /** It refers to a commitment that does not exist: 9. */
  readonly hasWrongCommitment?: boolean
}

type Case = readonly [name: string, script: Script, shape?: Shape]

const there: readonly Case[] = [
  [
    'right',
    [
      ['right', 'ACCEPTED 0'],
      ['commit', 'FINALIZED 0'],
    ],
  ],
  [
    'a wrong key',
    [
      ['wrongKey', 'FAILED 5 0'],
      ['commit', 'FAILED 5 0'],
    ],
  ],
  [
    'a wrong key, then right',
    [
      ['wrongKey', 'FAILED 5 0'],
      ['right', 'ACCEPTED 1'],
      ['commit', 'FINALIZED 1'],
    ],
  ],
  [
    'a wrong unlock, then right',
    [
      ['wrongUnlock', 'FAILED 7 0'],
      ['right', 'ACCEPTED 1'],
    ],
  ],
  [
    'two that are wrong: the last is told',
    [
      ['wrongKey', 'FAILED 5 0'],
      ['wrongUnlock', 'FAILED 7 1'],
      ['right', 'ACCEPTED 2'],
    ],
  ],
  [
    'right, then a wrong key',
    [
      ['right', 'ACCEPTED 0'],
      ['wrongKey', 'ACCEPTED 0'],
      ['commit', 'FINALIZED 0'],
    ],
  ],
  [
    'right twice',
    [
      ['right', 'ACCEPTED 0'],
      ['right', 'ACCEPTED 0'],
    ],
  ],
  [
    'a wrong key, and right when its slot is committed',
    [
      ['wrongKey', 'FAILED 5 0'],
      ['commit', 'FAILED 5 0'],
      ['right', 'ACCEPTED 1'],
      ['commit', 'FINALIZED 1'],
    ],
  ],
  [
    'a wrong key when it is final',
    [
      ['right', 'ACCEPTED 0'],
      ['commit', 'FINALIZED 0'],
      ['wrongKey', 'FINALIZED 0'],
    ],
  ],
  [
    'a rival comes first',
    [
      ['rival', 'unknown'],
      ['right', 'FAILED 1 0'],
      ['right', 'FAILED 1 0'],
    ],
  ],
  [
    'a rival comes first and is final',
    [
      ['rival', 'unknown'],
      ['commit', 'unknown'],
      ['right', 'FAILED 3 0'],
    ],
  ],
  [
    'a rival comes second',
    [
      ['right', 'ACCEPTED 0'],
      ['rival', 'ACCEPTED 0'],
      ['commit', 'FINALIZED 0'],
    ],
  ],
  [
    'a rival comes between a wrong key and a right one',
    [
      ['wrongKey', 'FAILED 5 0'],
      ['rival', 'FAILED 5 0'],
      ['right', 'FAILED 1 1'],
      ['right', 'FAILED 1 1'],
    ],
  ],
  [
    'a rule of the transaction is broken: no other unlock helps',
    [
      ['right', 'FAILED 14 0'],
      ['wrongKey', 'FAILED 14 0'],
      ['right', 'FAILED 14 0'],
    ],
    { isUnbalanced: true },
  ],
  [
    'a rule of it is broken behind a wrong key',
    [
      ['wrongKey', 'FAILED 5 0'],
      ['right', 'FAILED 14 1'],
      ['wrongKey', 'FAILED 14 1'],
    ],
    { isUnbalanced: true },
  ],
  [
    'an unknown commitment behind a wrong key',
    [
      ['wrongKey', 'FAILED 9 0'],
      ['right', 'FAILED 9 0'],
    ],
    { hasWrongCommitment: true },
  ],
]

const missing: readonly Case[] = [
  [
    'late',
    [
      ['right', 'PENDING 0'],
      ['parent', 'ACCEPTED 0'],
      ['commit', 'FINALIZED 0'],
    ],
  ],
  [
    'late, by a wrong key',
    [
      ['wrongKey', 'PENDING 0'],
      ['parent', 'FAILED 5 0'],
      ['right', 'ACCEPTED 1'],
    ],
  ],
  [
    'late, by a wrong key and a right one',
    [
      ['wrongKey', 'PENDING 0'],
      ['right', 'PENDING 0'],
      ['parent', 'ACCEPTED 1'],
    ],
  ],
  [
    'late, by a right key and a wrong one',
    [
      ['right', 'PENDING 0'],
      ['wrongKey', 'PENDING 0'],
      ['parent', 'ACCEPTED 0'],
    ],
  ],
  [
    'late, by several that are wrong',
    [
      ['wrongKey', 'PENDING 0'],
      ['wrongUnlock', 'PENDING 0'],
      ['parent', 'FAILED 7 1'],
    ],
  ],
  [
    'late, in a later slot',
    [
      ['right', 'PENDING 0'],
      ['slot', 'PENDING 0'],
      ['parent', 'ACCEPTED 0'],
      ['commit', 'FINALIZED 0'],
    ],
  ],
  [
    'never',
    [
      ['right', 'PENDING 0'],
      ['commit', 'FAILED 2 0'],
    ],
  ],
  [
    'never, by a wrong key',
    [
      ['wrongKey', 'PENDING 0'],
      ['commit', 'FAILED 2 0'],
    ],
  ],
  [
    'an output that the parent does not have',
    [
      ['right', 'PENDING 0'],
      ['parent', 'PENDING 0'],
      ['commit', 'FAILED 2 0'],
    ],
    { index: 2 },
  ],
  [
    'an output that the parent did not have',
    [
      ['parent', 'unknown'],
      ['right', 'PENDING 0'],
      ['commit', 'FAILED 2 0'],
    ],
    { index: 2 },
  ],
  [
    'too late',
    [
      ['right', 'PENDING 0'],
      ['commit', 'FAILED 2 0'],
      ['parent', 'FAILED 2 0'],
      ['commit', 'FAILED 2 0'],
    ],
  ],
  [
    'too late, and carried again',
    [
      ['right', 'PENDING 0'],
      ['commit', 'FAILED 2 0'],
      ['parent', 'FAILED 2 0'],
      ['right', 'ACCEPTED 1'],
      ['commit', 'FINALIZED 1'],
    ],
  ],
  [
    'too late, and carried again before',
    [
      ['right', 'PENDING 0'],
      ['commit', 'FAILED 2 0'],
      ['right', 'PENDING 1'],
      ['parent', 'ACCEPTED 1'],
    ],
  ],
  [
    'too late for the first carrier alone',
    [
      ['right', 'PENDING 0'],
      ['slot', 'PENDING 0'],
      ['right', 'PENDING 0'],
      ['slot', 'PENDING 0'],
      ['slot', 'PENDING 0'],
      ['parent', 'ACCEPTED 1'],
    ],
  ],
  [
    'never, by two in two slots',
    [
      ['right', 'PENDING 0'],
      ['slot', 'PENDING 0'],
      ['wrongKey', 'PENDING 0'],
      ['commit', 'FAILED 2 1'],
    ],
  ],
  [
    'the first of two that wait wins',
    [
      ['right', 'PENDING 0'],
      ['rival', 'PENDING 0'],
      ['parent', 'ACCEPTED 0'],
    ],
  ],
  [
    'the second of two that wait loses',
    [
      ['rival', 'unknown'],
      ['right', 'PENDING 0'],
      ['parent', 'FAILED 1 0'],
    ],
  ],
  [
    'a rival comes behind the parent',
    [
      ['right', 'PENDING 0'],
      ['parent', 'ACCEPTED 0'],
      ['rival', 'ACCEPTED 0'],
    ],
  ],
  [
    'a rival takes what a wrong key waited for',
    [
      ['wrongKey', 'PENDING 0'],
      ['rival', 'PENDING 0'],
      ['parent', 'FAILED 5 0'],
      ['right', 'FAILED 1 1'],
    ],
  ],
  [
    'a rule of the transaction is broken',
    [
      ['wrongKey', 'PENDING 0'],
      ['right', 'PENDING 0'],
      ['parent', 'FAILED 14 1'],
      ['right', 'FAILED 14 1'],
    ],
    { isUnbalanced: true },
  ],
  [
    'an unknown commitment is not waited with',
    [
      ['right', 'FAILED 9 0'],
      ['parent', 'FAILED 9 0'],
    ],
    { hasWrongCommitment: true },
  ],
]

const amount = 10_000_000n
const owner = user(2)
const stranger = user(3)
const { minCommittableAge } = worldParameters
let world: LedgerWorld
let coins: OutputId[]

beforeAll(async () => {
  world = await startWorld()
  const count = there.length + missing.length + 10
  await fundFromFaucet(
    world,
    Array.from({ length: count }, () => ownedBy(owner, amount)),
  )
  coins = world.outputs.map(({ outputId }) => outputId)
  await world.pass(minCommittableAge)
})
afterAll(() => world.close())

describe('where its input is there', () => {
  test.each(there.map(caseOf))('$name', async ({ script, shape }) => {
    const family = await makeFamily(shape)
    await world.submit(await world.moment(), family.parent.payload)
    await follow(family, script)
  })
})

describe('where its input is missing', () => {
  test.each(missing.map(caseOf))('$name', async ({ script, shape }) => {
    await follow(await makeFamily(shape), script)
  })
})

function caseOf([name, script, shape = {}]: Case) {
  return { name, script, shape }
}

/** A transaction in all its forms, what it spends from, and what spends the same. */
interface Family {
  readonly payloads: Readonly<Record<Exclude<Step, 'commit' | 'slot'>, SignedTransaction>>
  readonly parent: SignedPayment
  readonly transactionId: TransactionId
}

async function makeFamily({ index = 0, ...shape }: Shape = {}): Promise<Family> {
  const { offer, slot: creationSlot, commitmentId } = await world.moment()
  const { network } = offer
  const spend = present(coins.pop(), 'a coin')
  const halves = [ownedBy(owner, amount / 2n), ownedBy(owner, amount / 2n)]
  const parent = paymentOf(network, { spend, key: owner, outputs: halves, creationSlot })
  const first = present(parent.created[0], 'an output of the parent')
  const made = shape.isUnbalanced === true ? amount : amount / 2n
  const unknown = `0x${'22'.repeat(32)}${commitmentId.slice(-8)}` as CommitmentId
  const payment = {
    spend: `${first.slice(0, -4)}0${index}00` as OutputId,
    key: owner,
    outputs: [ownedBy(stranger, made)],
    creationSlot,
    ...(shape.hasWrongCommitment === true && { commitment: unknown }),
  }
  const right = paymentOf(network, payment)
  const wrongKey = paymentOf(network, { ...payment, key: stranger })
  const rival = paymentOf(network, {
    ...payment,
    spend: first,
    outputs: [ownedBy(owner, amount / 2n)],
  })
  const [unlock] = right.payload.unlocks
  if (unlock?.type !== 0) throw new Error('a signature is meant')
  const wrongUnlock = [{ type: 5, unlocks: [unlock, { type: 6 }] }] as const
  expect(wrongKey.transactionId).toBe(right.transactionId)
  return {
    payloads: {
      right: right.payload,
      wrongKey: wrongKey.payload,
      wrongUnlock: { ...right.payload, unlocks: wrongUnlock },
      parent: parent.payload,
      rival: rival.payload,
    },
    parent,
    transactionId: right.transactionId,
  }
}

/** Takes the steps, and expects behind each what the transaction says, by query and by REST. */
async function follow({ payloads, transactionId }: Family, script: Script): Promise<void> {
  const carriers: string[] = []
  const seen: string[] = []
  for (const [step] of script) {
    if (step === 'slot') await world.pass(1)
    else if (step === 'commit') await world.pass(minCommittableAge)
    else {
      const blockId = await world.submit(await world.moment(), payloads[step])
      await booked(blockId)
      if (step !== 'parent' && step !== 'rival') carriers.push(blockId)
    }
    seen.push(await told(transactionId, carriers))
  }
  expect(seen).toEqual(script.map(([, expected]) => expected))
}

/** Until a block is booked, and with it everything that came before. */
async function booked(blockId: string): Promise<void> {
  const url = `${world.gateway.url}/api/core/v3/blocks/${blockId}/metadata`
  await until(async () => (await getJson(url)).blockState !== 'pending')
}

async function told(transactionId: TransactionId, carriers: readonly string[]): Promise<string> {
  const query = `{ transaction(id: "${transactionId}") { state failure { code } blockId } }`
  const { data } = await graphql(world.gateway.url, query)
  if (data.transaction === null) return 'unknown'
  const { state, failure, blockId } = data.transaction
  const route = `${world.gateway.url}/api/core/v3/transactions/${transactionId}/metadata`
  const { transactionState, transactionFailureReason, earliestAttachmentSlot } =
    await getJson(route)
  expect([transactionState, transactionFailureReason, earliestAttachmentSlot]).toEqual([
    state.toLowerCase(),
    failure?.code,
    slotOfId(blockId),
  ])
  return [state, ...(failure === null ? [] : [failure.code]), carriers.indexOf(blockId)].join(' ')
}
