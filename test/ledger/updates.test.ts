import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createPackedEntries } from '../../src/ledger/packed-entries.ts'
import { compareLogEntries, type LogEntry, logEntries, roles } from '../../src/ledger/updates.ts'
import { bytesToHex, type Hex } from '../../src/lib/hex.ts'
import { inTurns } from '../../src/lib/turns.ts'
import { maxAddressLength } from '../../src/protocol/addresses.ts'
import { decodeBech32 } from '../../src/protocol/bech32.ts'
import { Output } from '../../src/protocol/outputs.ts'
import { OutputId } from '../../src/protocol/primitives.ts'
import { outputIdOf, slotEntries } from '../support/log-store.ts'
import { parsed } from '../support/parsed.ts'
import { semanticParameters } from '../support/semantic-parameters.ts'
import { loadVectors, type Vector } from '../support/vectors.ts'

interface OwnersVector extends Vector {
  readonly params: string
  readonly output: unknown
  readonly atSlot: readonly { readonly slot: number; readonly owner: string }[]
  readonly related: readonly { readonly role: string; readonly address: string }[]
}

const outputId = idOf('00', 0)

describe('owners and roles of outputs', () => {
  test.each(loadVectors<OwnersVector>('semantic-owners'))('$name', (vector) => {
    const parameters = semanticParameters(vector.params)
    const output = parsed(Output, vector.output)
    for (const { slot, owner } of vector.atSlot) {
      for (const isSpent of [false, true]) {
        const entries = logEntries(parameters, { outputId, output, isSpent, slot })
        const owned = entries.filter((entry) => entry.class === 'OWNED')
        expect(owned.map((entry) => entry.address)).toEqual([bytesOf(owner)])
        for (const { role, address } of vector.related) {
          const entry = entries.find((one) => one.address === bytesOf(address))
          expect(entry?.roles).toContain(roleNamed(role))
        }
      }
    }
  })
})

describe('cases without vectors', () => {
  const parameters = semanticParameters('standard')
  const [alice, bob, carol] = ['0x11', '0x22', '0x33'].map((pair) => ({
    type: 0,
    pubKeyHash: pair.padEnd(66, pair.slice(2)),
  }))
  const multi = {
    type: 40,
    addresses: [alice, bob].map((address) => ({ address, weight: 1 })),
    threshold: 2,
  }

  test('an address with several roles has one row, and a member or inner address has its own', () => {
    const output = basicOutput(
      [
        { type: 0, address: { type: 48, address: multi, allowedCapabilities: '0x01' } },
        { type: 1, returnAddress: bob, amount: '1' },
      ],
      [{ type: 0, address: carol }],
    )
    const entries = logEntries(parameters, { outputId, output, isSpent: false, slot: 1 })
    const rows = entries.map((entry) => [entry.class, entry.address.slice(0, 6), entry.roles])
    expect(rows).toEqual([
      ['OWNED', '0x3028', ['OWNER']],
      ['MENTIONED', '0x0011', ['MULTI_MEMBER']],
      ['MENTIONED', '0x0022', ['STORAGE_DEPOSIT_RETURN', 'MULTI_MEMBER']],
      ['MENTIONED', '0x0033', ['SENDER']],
      ['MENTIONED', expect.stringMatching(/^0x28/), ['RESTRICTED_INNER']],
    ])
    expect(entries.at(-1)?.address.length).toBe(2 + 2 * 33)
  })

  test('created and spent rows have the same addresses and roles; an expiration moves the ownership', () => {
    const output = basicOutput([
      { type: 0, address: alice },
      { type: 3, returnAddress: bob, slot: 100 },
    ])
    const created = logEntries(parameters, { outputId, output, isSpent: false, slot: 89 })
    const spent = logEntries(parameters, { outputId, output, isSpent: true, slot: 90 })
    expect(created.map(brief)).toEqual(['OWNED 0x0011 OWNER', 'MENTIONED 0x0022 EXPIRATION_RETURN'])
    expect(spent.map(brief)).toEqual(['OWNED 0x0022 EXPIRATION_RETURN', 'MENTIONED 0x0011 OWNER'])
  })

  test('rows of a slot are sorted by id, creation before spending, class and address', () => {
    const row = (id: OutputId, isSpent: boolean, owned: boolean, address: Hex): LogEntry => ({
      outputId: id,
      isSpent,
      class: owned ? 'OWNED' : 'MENTIONED',
      address,
      roles: [],
    })
    const ordered = [
      row(idOf('00', 2), false, true, '0x08'),
      row(idOf('00', 2), false, false, '0x00'),
      row(idOf('00', 2), false, false, '0x0000'),
      row(idOf('00', 2), false, false, '0x01'),
      row(idOf('00', 2), true, true, '0x00'),
      row(idOf('00', 10), false, true, '0x00'),
      // By its bytes, 256 sorts before 10; by its value, after it.
      row(idOf('00', 256), false, true, '0x00'),
      row(idOf('01', 0), false, true, '0x00'),
    ]
    expect(ordered.toReversed().sort(compareLogEntries)).toEqual(ordered)
  })
})

describe('the entries of a slot', () => {
  test.each([0, 5, undefined])('are in order, with at most %s objects', async (maxObjects) => {
    const property = fc.asyncProperty(slotEntries, async (entries) => {
      const packed = createPackedEntries(maxObjects)
      for (const entry of entries) packed.add(entry)
      const sorted = await inTurns(packed.sortSteps())
      expect(sorted.length).toBe(entries.length)
      expect([...sorted]).toEqual(entries.toSorted(compareLogEntries))
      expect([...sorted]).toEqual([...sorted])
    })
    await fc.assert(property)
  })

  test('keep their roles and addresses of any length as bytes', async () => {
    const shortest = { address: '0x', class: 'MENTIONED', roles: [], isSpent: true } as const
    const longest = { ...shortest, address: `0x${'ab'.repeat(maxAddressLength)}`, roles } as const
    const entries = [shortest, longest].map((one) => ({ ...one, outputId: outputIdOf('9f', 258) }))
    const packed = createPackedEntries(0)
    for (const entry of entries) packed.add(entry)
    expect([...(await inTurns(packed.sortSteps()))]).toEqual(entries)
  })
})

/** Returns the role of a vector. The table of roles counts the account of a foundry as its owner; the vectors name it separately. */
function roleNamed(role: string): string {
  return role === 'immutableAccount' ? 'OWNER' : role.replace(/[A-Z]/g, '_$&').toUpperCase()
}

function brief(entry: LogEntry): string {
  return `${entry.class} ${entry.address.slice(0, 6)} ${entry.roles}`
}

function basicOutput(unlockConditions: unknown[], features: unknown[] = []): Output {
  return parsed(Output, { type: 0, amount: '1', mana: '0', unlockConditions, features })
}

function idOf(pair: string, index: number): OutputId {
  const hash = pair.repeat(36)
  return parsed(OutputId, `0x${hash}${Buffer.of(index & 255, index >> 8).toString('hex')}`)
}

function bytesOf(bech32: string): Hex {
  const text = decodeBech32(bech32)
  if (!text.ok) throw new Error(text.error.code)
  return bytesToHex(text.value.bytes)
}
