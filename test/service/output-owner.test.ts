import { describe, expect, test } from 'vitest'
import { developmentParameters } from '../../src/node/embedded/development-parameters.ts'
import { addressKey } from '../../src/protocol/ids.ts'
import { Output } from '../../src/protocol/outputs.ts'
import { encode } from '../../src/protocol/schema/schema.ts'
import { addressText } from '../../src/service/addresses/address-text.ts'
import { databases, useStore } from '../support/databases.ts'
import { askSchema } from '../support/graphql.ts'
import { unwrap } from '../support/log-store.ts'
import { minCommittableAge } from '../support/random-ledger.ts'
import { randomAddresses } from '../support/random-outputs.ts'
import {
  booking,
  createdOutput,
  ownedOutput,
  slotCommit,
  testGenesis,
} from '../support/store-rows.ts'

const parameters = { ...developmentParameters(0), minCommittableAge, bech32Hrp: 'tst' }

describe.each(databases)("the owner of an output on '$name'", ({ create }) => {
  const use = useStore(create)

  test('is its holder, also before the slot of its booking is committed', async () => {
    const { store, term } = use
    const [owner, returnAddress] = randomAddresses
    if (owner === undefined || returnAddress === undefined) throw new Error('two addresses')
    unwrap(await store.write.initialize(term, testGenesis({ commit: slotCommit(0) })))
    // Around the slot of booking, and around the newest milestone.
    const bookedSlot = 4
    const ends = [2, 3, 4, 6, 7, 8]
    const created = ends.map((slot, n) => {
      const unlockConditions = [
        { type: 0, address: owner },
        { type: 3, returnAddress, slot },
      ] as const
      const output: Output = { ...ownedOutput(1, 1_000n), unlockConditions }
      return createdOutput(1 + n, { bookedSlot, bytes: encode(Output, output) })
    })
    unwrap(await store.write.book(term, booking({ created })))
    for (let committed = 0; committed <= bookedSlot + 1; committed++) {
      if (committed > 0) {
        unwrap(await store.write.closeSlots(term, committed))
        unwrap(await store.write.commitSlots(term, [slotCommit(committed)]))
      }
      for (const holder of [owner, returnAddress]) {
        const bech32 = addressText('tst', addressKey(holder))
        const { data } = await askSchema(
          { store, parameters },
          `{ unspentOutputs(filter: { heldBy: "${bech32}" }) { nodes { owner { bech32 } } } }`,
        )
        const { nodes } = data.unspentOutputs
        expect(nodes).toEqual(nodes.map(() => ({ owner: { bech32 } })))
      }
    }
  })
})
