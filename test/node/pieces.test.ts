import { setImmediate } from 'node:timers/promises'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { accountChanges, accountShares } from '../../src/ledger/account-changes.ts'
import { activityOfSlot } from '../../src/ledger/activity.ts'
import { rangeMoves } from '../../src/ledger/balance-ranges.ts'
import { noBalance } from '../../src/ledger/balances-of-address.ts'
import { outputTrieSteps } from '../../src/ledger/state-root.ts'
import { logEntries, logOrderSteps } from '../../src/ledger/updates.ts'
import { inTurns, runToCompletion, type Steps } from '../../src/lib/turns.ts'
import { developmentGenesis, developmentKeys } from '../../src/node/embedded/development.ts'
import { genesisSteps } from '../../src/node/genesis.ts'
import type { AccountId } from '../../src/protocol/primitives.ts'
import { ownedBy, user } from '../support/wallet.ts'

/**
 * Tests that work which grows with a slot or a genesis is computed in pieces, with turns for other work in between. The tests count the
 * pieces, because times depend on the machine.
 */

const plan = developmentGenesis(developmentKeys(), 1_700_000_000)
const { parameters } = plan
const rows = 4_096
/** Each piece has 256 rows. */
const pieces = rows / 256

const outputs = Array.from({ length: rows }, (_, i) => ownedBy(user(i % 5), 1_000n))
const large = { ...plan, outputs }
const made = runToCompletion(genesisSteps(large))
const created = made.outputs.map(({ outputId }, i) => ({
  outputId,
  output: outputs[i] ?? ownedBy(user(0), 1_000n),
}))
const outputIds = created.map(({ outputId }) => outputId)
const issuerOf = (i: number) => `0x${i.toString(16).padStart(64, '0')}` as AccountId

const events = {
  slot: 1,
  allotments: [],
  created,
  consumed: created,
  blocks: outputs.map((_, i) => ({ kind: 'basic', issuerId: issuerOf(i), workScore: 1 }) as const),
  burnPrice: 1n,
}

const balances = new Map(
  made.outputs.map(({ outputId }) => [outputId, { ...noBalance, available: 1n, outputs: 1 }]),
)
const owned = created.map(({ outputId }, i) => {
  return { address: issuerOf(i), outputId, isSpent: false, formerSlot: undefined }
})
const unknown = { blocks: undefined, blockBytes: undefined, failed: undefined, burned: undefined }
const known = {
  counts: unknown,
  isGenesis: false,
  amountById: new Map(),
  spenderById: new Map(),
}

describe('a slot', () => {
  const steps: readonly (readonly [string, () => Steps<unknown>, number])[] = [
    // Blocks, and outputs twice in two lists.
    ['the shares of its accounts', () => accountShares(events), 5 * pieces],
    [
      'its account changes',
      () => accountChanges(parameters, () => undefined, resultOf(accountShares(events))),
      pieces,
    ],
    [
      'the trie of outputs',
      () => outputTrieSteps({ created: outputIds, consumed: outputIds }),
      2 * pieces,
    ],
    ['the order of its entries', () => logOrderSteps(entriesOf()), pieces],
    [
      'its activity',
      () => activityOfSlot(parameters, { slot: 1, updates: rows, owned }, known),
      3 * pieces,
    ],
    ['the ranges of balances', () => rangeMoves(balances, balances), 2 * pieces],
  ]
  test.each(steps)('is computed in pieces: %s', (_name, begin, least) => {
    expect(piecesOf(begin())).toBeGreaterThanOrEqual(least)
  })
})

describe('a genesis', () => {
  afterEach(() => vi.restoreAllMocks())

  test('is computed in pieces, with the same result as at once', async () => {
    // A transaction of 128 outputs is one piece.
    expect(piecesOf(genesisSteps(large))).toBeGreaterThanOrEqual(rows / 128 + 4 * pieces)
    expect(await inTurns(genesisSteps(large))).toEqual({ ...made, network: expect.anything() })
  })

  test('lets other tasks run between all pieces', async () => {
    // Each read of the clock shows that the turn is over.
    let ms = performance.now()
    vi.spyOn(performance, 'now').mockImplementation(() => {
      ms += 20
      return ms
    })
    let isOver = false
    const working = inTurns(genesisSteps(large)).finally(() => {
      isOver = true
    })
    let tasks = 0
    for (; !isOver; tasks++) await setImmediate()
    await working
    expect(tasks).toBeGreaterThanOrEqual(rows / 128 + 4 * pieces)
  })
})

function entriesOf() {
  return created.flatMap((one) => logEntries(parameters, { ...one, isSpent: false, slot: 1 }))
}

function piecesOf(steps: Steps<unknown>): number {
  let count = 0
  while (steps.next().done !== true) count++
  return count
}

function resultOf<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
  }
}
