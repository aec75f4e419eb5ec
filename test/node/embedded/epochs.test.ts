import { expect, test } from 'vitest'
import { epochRewards } from '../../../src/ledger/rewards.ts'
import { assert } from '../../../src/lib/assert.ts'
import { developmentParameters } from '../../../src/node/embedded/development-parameters.ts'
import { epochsChangedBy } from '../../../src/node/embedded/epochs.ts'
import type { AccountId, BlockId } from '../../../src/protocol/primitives.ts'
import {
  firstSlotOfEpoch,
  lastSlotOfEpoch,
  nsPerSecond,
  slotStart,
} from '../../../src/protocol/slots.ts'
import { testId } from '../../support/store-rows.ts'

/** Tests the end of an epoch. */

test('the rewards of an epoch count its validation blocks, which are read in parts', async () => {
  const parameters = developmentParameters(0)
  const accountId: AccountId = testId('AccountId', 32, 0)
  const other: AccountId = testId('AccountId', 32, 1)
  const seat = { accountId, poolStake: 100n, validatorStake: 50n, fixedCost: 1n }
  const first = firstSlotOfEpoch(parameters, 1)
  const last = lastSlotOfEpoch(parameters, 1)
  const blocks = Array.from({ length: last + 3 - first }, (_, i) => {
    const slot = first - 1 + i
    const issuingTime = BigInt(slotStart(parameters, slot)) * nsPerSecond
    const blockId: BlockId = testId('BlockId', 36, i)
    return { blockId, slot, issuerId: slot % 3 === 0 ? other : accountId, issuingTime }
  })
  const widths: number[] = []
  const read = {
    blocksOfKind: async (_kind: string, from: number, to: number) => {
      widths.push(to + 1 - from)
      return blocks.filter(({ slot }) => slot >= from && slot <= to)
    },
  }
  const row = { epoch: 1, committee: [seat], candidates: [], rewards: undefined }
  const state = { epochAt: () => row, accounts: async () => () => undefined }
  const [ended, ...others] = await epochsChangedBy({ read, parameters, state }, last, [])
  assert(ended !== undefined, 'the last slot changes its epoch')
  const counted = blocks.filter(({ slot, issuerId }) => {
    return slot >= first && slot <= last && issuerId === accountId
  })
  const activity = counted.map(() => ({ blocks: 1, subslots: 1 }))
  expect(others).toEqual([])
  expect(ended.rewards).toEqual(epochRewards(parameters, 1, [{ ...seat, activity }]))
  expect(widths.reduce((sum, width) => sum + width)).toBe(last + 1 - first)
  expect(Math.max(...widths)).toBeLessThanOrEqual(100)
})
