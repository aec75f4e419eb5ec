import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { present } from '../../src/lib/assert.ts'
import { slotOfId, transactionOf } from '../../src/protocol/ids.ts'
import type { CommitmentId, OutputId, TransactionId } from '../../src/protocol/primitives.ts'
import type { SignedTransaction } from '../../src/protocol/transaction.ts'
import { graphql } from '../support/client.ts'
import {
  fundFromFaucet,
  type LedgerWorld,
  startWorld,
  worldParameters,
} from '../support/ledger-world.ts'
import { restJson } from '../support/rest.ts'
import { until } from '../support/until.ts'
import { genesisOutputs, ownedBy, paymentOf, type SignedPayment, user } from '../support/wallet.ts'

/**
 * Submits one transaction in several blocks, with valid and invalid unlocks, before and after its input exists. The expected
 * states are those of the node (iota-core `mempool/v1`, `retainer/txretainer`; ledger reference 3.3).
 */

/** The steps of a case, each with the status of the transaction after it: state, failure code, and the index of its block. */
type Script = readonly (readonly [step: Step, status: string])[]

/**
 * `right`, `wrongKey` and `wrongUnlock` book a block that carries the transaction: with a valid signature, with the signature of
 * another key (failure 5), or with an unlock of another kind (failure 7). `parent` books the transaction that creates its input,
 * `rival` another transaction that spends the same input. `commit` advances the time until the slot of the last block is
 * committed, `slot` by one slot.
 */
type Step = 'right' | 'wrongKey' | 'wrongUnlock' | 'parent' | 'rival' | 'commit' | 'slot'

/** Input and outputs of the transaction. */
interface Shape {
  /** Index of the output of the parent that is spent. The parent has no output 2. */
  readonly index?: 0 | 2
  /** The outputs have more base tokens than the input (failure 14). */
  readonly isUnbalanced?: boolean
  /** The transaction refers to a commitment that does not exist (failure 9). */
  readonly hasWrongCommitment?: boolean
}

type Case = readonly [name: string, script: Script, shape?: Shape]

const withInput: readonly Case[] = [
  [
    'after a valid block',
    [
      ['right', 'ACCEPTED 0'],
      ['commit', 'FINALIZED 0'],
    ],
  ],
  [
    'after a wrong key',
    [
      ['wrongKey', 'FAILED 5 0'],
      ['commit', 'FAILED 5 0'],
    ],
  ],
  [
    'after a wrong key, then a valid block',
    [
      ['wrongKey', 'FAILED 5 0'],
      ['right', 'ACCEPTED 1'],
      ['commit', 'FINALIZED 1'],
    ],
  ],
  [
    'after a wrong unlock, then a valid block',
    [
      ['wrongUnlock', 'FAILED 7 0'],
      ['right', 'ACCEPTED 1'],
    ],
  ],
  [
    'after two invalid blocks, with the failure of the last one',
    [
      ['wrongKey', 'FAILED 5 0'],
      ['wrongUnlock', 'FAILED 7 1'],
      ['right', 'ACCEPTED 2'],
    ],
  ],
  [
    'after a valid block, then a wrong key',
    [
      ['right', 'ACCEPTED 0'],
      ['wrongKey', 'ACCEPTED 0'],
      ['commit', 'FINALIZED 0'],
    ],
  ],
  [
    'after two valid blocks',
    [
      ['right', 'ACCEPTED 0'],
      ['right', 'ACCEPTED 0'],
    ],
  ],
  [
    'after a wrong key, then a valid block once its slot is committed',
    [
      ['wrongKey', 'FAILED 5 0'],
      ['commit', 'FAILED 5 0'],
      ['right', 'ACCEPTED 1'],
      ['commit', 'FINALIZED 1'],
    ],
  ],
  [
    'after a wrong key once it is final',
    [
      ['right', 'ACCEPTED 0'],
      ['commit', 'FINALIZED 0'],
      ['wrongKey', 'FINALIZED 0'],
    ],
  ],
  [
    'after a rival',
    [
      ['rival', 'unknown'],
      ['right', 'FAILED 1 0'],
      ['right', 'FAILED 1 0'],
    ],
  ],
  [
    'after a rival that is final',
    [
      ['rival', 'unknown'],
      ['commit', 'unknown'],
      ['right', 'FAILED 3 0'],
    ],
  ],
  [
    'before a rival',
    [
      ['right', 'ACCEPTED 0'],
      ['rival', 'ACCEPTED 0'],
      ['commit', 'FINALIZED 0'],
    ],
  ],
  [
    'with a rival between a wrong key and a valid block',
    [
      ['wrongKey', 'FAILED 5 0'],
      ['rival', 'FAILED 5 0'],
      ['right', 'FAILED 1 1'],
      ['right', 'FAILED 1 1'],
    ],
  ],
  [
    'if it breaks a rule, whatever its unlocks',
    [
      ['right', 'FAILED 14 0'],
      ['wrongKey', 'FAILED 14 0'],
      ['right', 'FAILED 14 0'],
    ],
    { isUnbalanced: true },
  ],
  [
    'if it breaks a rule, after a wrong key',
    [
      ['wrongKey', 'FAILED 5 0'],
      ['right', 'FAILED 14 1'],
      ['wrongKey', 'FAILED 14 1'],
    ],
    { isUnbalanced: true },
  ],
  [
    'for an unknown commitment, after a wrong key',
    [
      ['wrongKey', 'FAILED 9 0'],
      ['right', 'FAILED 9 0'],
    ],
    { hasWrongCommitment: true },
  ],
]

const withoutInput: readonly Case[] = [
  [
    'its parent comes later',
    [
      ['right', 'PENDING 0'],
      ['parent', 'ACCEPTED 0'],
      ['commit', 'FINALIZED 0'],
    ],
  ],
  [
    'its parent comes after a wrong key',
    [
      ['wrongKey', 'PENDING 0'],
      ['parent', 'FAILED 5 0'],
      ['right', 'ACCEPTED 1'],
    ],
  ],
  [
    'its parent comes after a wrong key and a valid block',
    [
      ['wrongKey', 'PENDING 0'],
      ['right', 'PENDING 0'],
      ['parent', 'ACCEPTED 1'],
    ],
  ],
  [
    'its parent comes after a valid block and a wrong key',
    [
      ['right', 'PENDING 0'],
      ['wrongKey', 'PENDING 0'],
      ['parent', 'ACCEPTED 0'],
    ],
  ],
  [
    'its parent comes after several invalid blocks',
    [
      ['wrongKey', 'PENDING 0'],
      ['wrongUnlock', 'PENDING 0'],
      ['parent', 'FAILED 7 1'],
    ],
  ],
  [
    'its parent comes in a later slot',
    [
      ['right', 'PENDING 0'],
      ['slot', 'PENDING 0'],
      ['parent', 'ACCEPTED 0'],
      ['commit', 'FINALIZED 0'],
    ],
  ],
  [
    'its parent never comes',
    [
      ['right', 'PENDING 0'],
      ['commit', 'FAILED 2 0'],
    ],
  ],
  [
    'its parent never comes after a wrong key',
    [
      ['wrongKey', 'PENDING 0'],
      ['commit', 'FAILED 2 0'],
    ],
  ],
  [
    'it spends an output that a later parent does not have',
    [
      ['right', 'PENDING 0'],
      ['parent', 'PENDING 0'],
      ['commit', 'FAILED 2 0'],
    ],
    { index: 2 },
  ],
  [
    'it spends an output that an earlier parent does not have',
    [
      ['parent', 'unknown'],
      ['right', 'PENDING 0'],
      ['commit', 'FAILED 2 0'],
    ],
    { index: 2 },
  ],
  [
    'its parent comes too late',
    [
      ['right', 'PENDING 0'],
      ['commit', 'FAILED 2 0'],
      ['parent', 'FAILED 2 0'],
      ['commit', 'FAILED 2 0'],
    ],
  ],
  [
    'its parent comes too late, and another block carries it afterwards',
    [
      ['right', 'PENDING 0'],
      ['commit', 'FAILED 2 0'],
      ['parent', 'FAILED 2 0'],
      ['right', 'ACCEPTED 1'],
      ['commit', 'FINALIZED 1'],
    ],
  ],
  [
    'its parent comes too late for its first block, and another block carries it before',
    [
      ['right', 'PENDING 0'],
      ['commit', 'FAILED 2 0'],
      ['right', 'PENDING 1'],
      ['parent', 'ACCEPTED 1'],
    ],
  ],
  [
    'its parent comes after the first of its blocks has expired',
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
    'its parent never comes, and two blocks carry it in two slots',
    [
      ['right', 'PENDING 0'],
      ['slot', 'PENDING 0'],
      ['wrongKey', 'PENDING 0'],
      ['commit', 'FAILED 2 1'],
    ],
  ],
  [
    'it waits before a rival',
    [
      ['right', 'PENDING 0'],
      ['rival', 'PENDING 0'],
      ['parent', 'ACCEPTED 0'],
    ],
  ],
  [
    'it waits after a rival',
    [
      ['rival', 'unknown'],
      ['right', 'PENDING 0'],
      ['parent', 'FAILED 1 0'],
    ],
  ],
  [
    'a rival comes after its parent',
    [
      ['right', 'PENDING 0'],
      ['parent', 'ACCEPTED 0'],
      ['rival', 'ACCEPTED 0'],
    ],
  ],
  [
    'a rival spends the input that a wrong key waited for',
    [
      ['wrongKey', 'PENDING 0'],
      ['rival', 'PENDING 0'],
      ['parent', 'FAILED 5 0'],
      ['right', 'FAILED 1 1'],
    ],
  ],
  [
    'it breaks a rule',
    [
      ['wrongKey', 'PENDING 0'],
      ['right', 'PENDING 0'],
      ['parent', 'FAILED 14 1'],
      ['right', 'FAILED 14 1'],
    ],
    { isUnbalanced: true },
  ],
  [
    'it fails at once for an unknown commitment',
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
  const count = withInput.length + withoutInput.length + 10
  await fundFromFaucet(
    world,
    Array.from({ length: count }, () => ownedBy(owner, amount)),
  )
  coins = world.outputs.map(({ outputId }) => outputId)
  await world.pass(minCommittableAge)
})
afterAll(() => world.close())

describe('a transaction whose input exists has the expected state', () => {
  test.each(withInput.map(caseOf))('$name', async ({ script, shape }) => {
    const family = await makeFamily(shape)
    await world.submit(await world.moment(), family.parent.payload)
    await follow(family, script)
  })
})

describe('a transaction whose input does not exist yet has the expected state when', () => {
  test.each(withoutInput.map(caseOf))('$name', async ({ script, shape }) => {
    await follow(await makeFamily(shape), script)
  })
})

test('an output of the genesis has the transaction of the genesis', async () => {
  const ids = await genesisOutputs(world.gateway.url, user(0))
  const id = present(ids[0], 'an output of the genesis')
  const query = `{ output(id: "${id}") { transaction { transactionId slot state failure { code } blockId } } }`
  const { data } = await graphql(world.gateway.url, query)
  expect(data.output.transaction).toEqual({
    ...{ transactionId: transactionOf(id), slot: worldParameters.genesisSlot },
    ...{ state: 'FINALIZED', failure: null, blockId: null },
  })
})

function caseOf([name, script, shape = {}]: Case) {
  return { name, script, shape }
}

/** A transaction with valid and invalid unlocks, the parent that creates its input, and a rival that spends the same input. */
interface Family {
  readonly payloads: Readonly<Record<Exclude<Step, 'commit' | 'slot'>, SignedTransaction>>
  readonly parent: SignedPayment
  readonly transactionId: TransactionId
  /** The output that the transaction creates. */
  readonly created: OutputId
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
  if (unlock?.type !== 0) throw new Error('expected a signature unlock')
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
    created: present(right.created[0], 'an output'),
  }
}

/** Executes the steps, and compares the status of the transaction after each one, by GraphQL and by REST. */
async function follow({ payloads, ...ids }: Family, script: Script): Promise<void> {
  const carriers: string[] = []
  const statuses: string[] = []
  for (const [step] of script) {
    if (step === 'slot') await world.pass(1)
    else if (step === 'commit') await world.pass(minCommittableAge)
    else {
      const blockId = await world.submit(await world.moment(), payloads[step])
      await untilBooked(blockId)
      if (step !== 'parent' && step !== 'rival') carriers.push(blockId)
    }
    statuses.push(await statusOf(ids, carriers))
  }
  expect(statuses).toEqual(script.map(([, expected]) => expected))
}

/** Waits until a block is booked, and with it everything submitted before it. */
async function untilBooked(blockId: string): Promise<void> {
  const url = `${world.gateway.url}/api/core/v3/blocks/${blockId}/metadata`
  await until(async () => (await restJson(url)).blockState !== 'pending')
}

async function statusOf(
  { transactionId, created }: Pick<Family, 'transactionId' | 'created'>,
  carriers: readonly string[],
): Promise<string> {
  const query = `{ transaction(id: "${transactionId}") { ...T } output(id: "${created}") { transaction { ...T } } }
    fragment T on Transaction { transactionId slot state failure { code } blockId }`
  const { data } = await graphql(world.gateway.url, query)
  if (data.transaction === null) return 'unknown'
  const { state, failure, blockId } = data.transaction
  const isBooked = ['ACCEPTED', 'FINALIZED'].includes(state)
  expect(data.output).toEqual(isBooked ? { transaction: data.transaction } : null)
  const route = `${world.gateway.url}/api/core/v3/transactions/${transactionId}/metadata`
  const { transactionState, transactionFailureReason, earliestAttachmentSlot } =
    await restJson(route)
  expect([transactionState, transactionFailureReason, earliestAttachmentSlot]).toEqual([
    state.toLowerCase(),
    failure?.code,
    slotOfId(blockId),
  ])
  return [state, ...(failure === null ? [] : [failure.code]), carriers.indexOf(blockId)].join(' ')
}
