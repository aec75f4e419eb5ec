import { describe, expect, test } from 'vitest'
import { present } from '../../src/lib/assert.ts'
import { outputMetadata } from '../../src/service/outputs/output-metadata.ts'
import type { Services } from '../../src/service/services.ts'
import { databases, useStore } from '../support/databases.ts'
import { unwrap } from '../support/log-store.ts'
import {
  booking,
  createdOutput,
  outputIdOf,
  slotCommit,
  testGenesis,
  transactionIdOf,
} from '../support/store-rows.ts'

describe.each(databases)("the metadata of an output on '$name'", ({ create }) => {
  const use = useStore(create)

  test('are of one commitment, also when it spent the output after its row was read', async () => {
    const { store, term } = use
    const output = createdOutput(1, { bookedSlot: 0 })
    unwrap(await store.write.initialize(term, testGenesis({ outputs: [output] })))
    const row = present(await store.read.output(outputIdOf(1)), 'the output')
    const spent = { outputId: outputIdOf(1), spentSlot: 1, spentBy: transactionIdOf(2) }
    unwrap(await store.write.book(term, booking({ spent: [spent] })))
    unwrap(await store.write.closeSlots(term, 1))
    const commit = slotCommit(1)
    unwrap(await store.write.commitSlots(term, [commit]))
    const source = { node: undefined } as Services['source']
    const metadata = unwrap(await outputMetadata({ store, source }, row))
    const { commitmentId } = commit
    expect(metadata.latestCommitmentId).toBe(commitmentId)
    expect(metadata.spent).toEqual({ slot: 1, transactionId: transactionIdOf(2), commitmentId })
  })
})
