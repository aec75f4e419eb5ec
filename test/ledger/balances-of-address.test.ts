import { describe, expect, test } from 'vitest'
import { balanceMoves } from '../../src/ledger/balances-of-address.ts'
import { Output } from '../../src/protocol/outputs.ts'
import { parsed } from '../support/parsed.ts'

/** Which moves an output with an expiration makes in the slot in which the expiration is reached. */

const key = (byte: string) => `0x${byte.repeat(32)}` as const
const owner = `0x00${'11'.repeat(32)}`
const returnAddress = `0x00${'22'.repeat(32)}`
const parameters = { minCommittableAge: 3 }
const reachedIn = 17
const output = parsed(Output, {
  type: 0,
  amount: '5',
  mana: '0',
  unlockConditions: [
    { type: 0, address: { type: 0, pubKeyHash: key('11') } },
    { type: 3, returnAddress: { type: 0, pubKeyHash: key('22') }, slot: 20 },
  ],
  features: [],
})

describe('an output whose expiration is reached', () => {
  test('passes to the return address, and leaves it if it is spent in that slot', () => {
    const span = { output, bookedSlot: 10, spentSlot: reachedIn }
    expect(movesOf({ created: [], spent: [span], due: [{ span, slot: reachedIn }] })).toEqual([
      [-1, owner, 'EXPIRATION_TRANSFER'],
      [1, returnAddress, 'EXPIRATION_TRANSFER'],
      [-1, returnAddress, 'LEDGER'],
    ])
  })

  test('is created for the return address if it is booked in that slot', () => {
    const span = { output, bookedSlot: reachedIn, spentSlot: undefined }
    expect(movesOf({ created: [span], spent: [], due: [{ span, slot: reachedIn }] })).toEqual([
      [1, returnAddress, 'LEDGER'],
    ])
  })

  test('does not pass if it was spent before', () => {
    const span = { output, bookedSlot: 10, spentSlot: reachedIn - 1 }
    expect(movesOf({ created: [], spent: [], due: [{ span, slot: reachedIn }] })).toEqual([])
  })
})

function movesOf(events: Parameters<typeof balanceMoves>[1]) {
  return balanceMoves(parameters, events).map(({ sign, holding, cause }) => [
    ...[sign, holding.owner, cause],
  ])
}
