import { describe, expect, test } from 'vitest'
import {
  epochOfSlot,
  firstSlotOfEpoch,
  lastSlotOfEpoch,
  maxSlot,
  slotEnd,
  slotOfTime,
  slotStart,
  type TimeParameters,
} from '../../src/protocol/slots.ts'
import { loadVectors, type Vector } from '../support/vectors.ts'

interface SlotVector extends Vector {
  readonly params: string
  readonly issuingTime: string
  readonly slot: number
  readonly epoch: number
}

interface ParametersVector extends Vector {
  readonly json: Omit<TimeParameters, 'genesisUnixTimestamp'> & {
    readonly genesisUnixTimestamp: string
  }
}

const parametersByName = new Map(
  loadVectors<ParametersVector>('params').map(({ name, json }) => [
    name.slice(name.indexOf('/') + 1),
    { ...json, genesisUnixTimestamp: BigInt(json.genesisUnixTimestamp) },
  ]),
)

function parametersOf(name: string): TimeParameters {
  const parameters = parametersByName.get(name)
  if (parameters === undefined) throw new Error(`no parameters ${name}`)
  return parameters
}

describe('slot and epoch of an issuing time', () => {
  test.each(loadVectors<SlotVector>('slots'))('$name', (vector) => {
    const parameters = parametersOf(vector.params)
    const slot = slotOfTime(parameters, BigInt(vector.issuingTime))
    expect(slot).toBe(vector.slot)
    expect(epochOfSlot(parameters, slot)).toBe(vector.epoch)
  })

  test('is the last slot at the end of time', () => {
    const parameters = { ...parametersOf('standard'), slotDurationInSeconds: 1 }
    expect(slotOfTime(parameters, 2n ** 64n - 1n)).toBe(maxSlot)
  })
})

describe('the borders of slots and epochs', () => {
  const parameters: TimeParameters = {
    genesisSlot: 666,
    genesisUnixTimestamp: 1000n,
    slotDurationInSeconds: 10,
    slotsPerEpochExponent: 3,
  }
  const rows = [
    ['the first slot', 667, 1000, 1010, 0],
    ['the second slot', 668, 1010, 1020, 0],
    ['the last slot of the first epoch', 673, 1060, 1070, 0],
    ['the first slot of the second epoch', 674, 1070, 1080, 1],
  ] as const
  test.each(rows)('%s', (_name, slot, start, end, epoch) => {
    expect(slotStart(parameters, slot)).toBe(start)
    expect(slotEnd(parameters, slot)).toBe(end)
    expect(slotOfTime(parameters, BigInt(start) * 1_000_000_000n)).toBe(slot)
    expect(slotOfTime(parameters, BigInt(end) * 1_000_000_000n - 1n)).toBe(slot)
    expect(epochOfSlot(parameters, slot)).toBe(epoch)
  })

  test('do not overlap at the first and last slot of an epoch', () => {
    expect(firstSlotOfEpoch(parameters, 0)).toBe(666)
    expect(firstSlotOfEpoch(parameters, 1)).toBe(674)
    expect(lastSlotOfEpoch(parameters, 0)).toBe(673)
  })

  test('coincide for the genesis slot', () => {
    expect(slotEnd(parameters, 666)).toBe(1000)
    expect(slotStart(parameters, 666)).toBe(1000)
  })
})
