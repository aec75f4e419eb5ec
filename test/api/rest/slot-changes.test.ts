import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { UtxoChanges, UtxoChangesFull } from '../../../src/protocol/node-responses.ts'
import type { Output } from '../../../src/protocol/outputs.ts'
import type { Id } from '../../../src/protocol/primitives.ts'
import { decode, print } from '../../../src/protocol/schema/schema.ts'
import { startFromGenesis } from '../../support/genesis-gateway.ts'
import { rest, restJson } from '../../support/rest.ts'
import type { TestGateway } from '../../support/start-gateway.ts'
import { binary } from '../../support/submit.ts'
import { ownedBy, user } from '../../support/wallet.ts'

/** Outputs of a large genesis: more than one read returns, and of two kinds. */

const outputs: readonly Output[] = Array.from({ length: 2_600 }, (_, i) => {
  const owned = ownedBy(user(i % 7), 100_000n + BigInt(i))
  return i % 3 === 0 ? nftOf(owned) : owned
})

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startFromGenesis(outputs)
})
afterAll(() => gateway.close())

describe('the changes of a slot of more than a page', () => {
  const forms = [
    ['utxo-changes', UtxoChanges, (id: unknown) => id],
    ['utxo-changes/full', UtxoChangesFull, ({ outputId }: { outputId: unknown }) => outputId],
  ] as const

  test.each(forms)(
    '%s are complete, ordered by id, as JSON and as bytes',
    async (path, schema, idOf) => {
      const url = `${gateway.url}/api/core/v3/commitments/by-slot/0/${path}`
      const streamed = await rest(url)
      expect(streamed.headers.get('content-length')).toBe(null)
      const json = await streamed.json()
      const ids = json.createdOutputs.map(idOf)
      expect(new Set(ids).size).toBe(outputs.length + 2)
      expect(ids).toEqual(ids.toSorted())
      expect(json.consumedOutputs).toEqual([])
      const raw = await rest(url, { headers: { accept: binary } })
      expect(raw.headers.get('content-type')).toBe(binary)
      const value = decode<object>(schema, new Uint8Array(await raw.arrayBuffer()))
      expect(value.ok && print<object>(schema, value.value)).toEqual(json)
    },
  )

  test('contain the outputs of the genesis file', async () => {
    const url = `${gateway.url}/api/core/v3/commitments/by-slot/0/utxo-changes/full`
    const { createdOutputs } = await restJson(url)
    const amounts = createdOutputs.map(
      ({ output }: { output: { amount: string } }) => output.amount,
    )
    const expected = outputs.map(({ amount }) => `${amount}`)
    expect(amounts).toEqual(expect.arrayContaining(expected))
  })
})

function nftOf({ amount, unlockConditions }: ReturnType<typeof ownedBy>): Output {
  const nftId = `0x${'00'.repeat(32)}` as Id<'NftId'>
  return { type: 4, amount, mana: 0n, nftId, unlockConditions, features: [], immutableFeatures: [] }
}
