import { TaggedDataPayload, Utils } from '@iota/sdk-wasm/node/lib/index.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { graphql, socketClient } from '../support/client.ts'
import { type Program, startProgram } from '../support/program.ts'
import { restJson } from '../support/rest.ts'
import { asList, openSdk, type Sdk } from '../support/sdk.ts'
import { makeUsualFolder, type UsualFolder } from '../support/usual-folder.ts'
import { addressOf, genesisOutputs, user, users } from '../support/wallet.ts'

let folder: UsualFolder
let gateway: Program
let sdk: Sdk

beforeAll(async () => {
  folder = await makeUsualFolder()
  gateway = await startProgram({ DATABASE_URL: folder.databaseUrl })
  sdk = await openSdk(gateway.url)
})
afterAll(async () => {
  await gateway.end('SIGTERM')
  await folder.remove()
})

describe('the client', () => {
  test('reads the node and its network', async () => {
    const { info } = await sdk.client.getNodeInfo()
    expect(info.status.isHealthy).toBe(true)
    expect(await sdk.client.getBech32Hrp()).toBe('tst')
    expect(sdk.parameters.networkName).toBe('ledger-gateway-dev')
  })

  test('reads the parents and the commitment for a new block', async () => {
    const issuance = await sdk.client.getIssuance()
    expect(issuance.strongParents.length).toBeGreaterThan(0)
    const { latestCommitment } = issuance
    const { commitmentId } = await milestone(latestCommitment.slot)
    expect(Utils.computeSlotCommitmentId(latestCommitment)).toBe(commitmentId)
  })

  test('derives the funded addresses', () => {
    expect(sdk.addresses).toEqual(users.map(addressOf))
  })

  test('computes the same hash of the protocol parameters', async () => {
    const { data } = await graphql(gateway.url, '{ network { parametersHash } }')
    expect(Utils.protocolParametersHash(sdk.parameters)).toBe(data.network.parametersHash)
  })
})

describe('a tagged data block', () => {
  const forms = [
    ['as JSON', '0x01'],
    ['as bytes', '0x02'],
  ] as const
  test.each(forms)(
    'posted %s gets the id that the client computes and can be read',
    async (form, data) => {
      const { block, blockId } = await sdk.block(new TaggedDataPayload('0x746167', data))
      const bytes = Utils.blockBytes(block)
      const answered =
        form === 'as JSON'
          ? await sdk.client.postBlock(block)
          : await sdk.client.postBlockRaw(asList(bytes))
      expect(answered).toBe(blockId)
      expect(await sdk.client.getBlock(blockId)).toEqual(block)
      expect(Array.from(await sdk.client.getBlockRaw(blockId))).toEqual(Array.from(bytes))
      expect((await sdk.client.getBlockMetadata(blockId)).blockState).toMatch(/pending|accepted/)
    },
  )
})

describe('a value transaction', () => {
  const rows = [
    ['without a context input', 1, 2, false],
    ['with a commitment input', 3, 4, true],
  ] as const
  test.each(rows)('%s is reported by every transport', async (_name, from, to, withCommitment) => {
    const [outputId = ''] = await genesisOutputs(gateway.url, user(from))
    const feed = await follow([from, to].map((index) => sdk.addresses[index] ?? ''))
    const amount = 400_000_000n
    const sent = await sdk.payment({ outputId, from, to, amount, withCommitment })
    const { block, blockId } = await sdk.block(sent.payload)
    expect(await sdk.client.postBlock(block)).toBe(blockId)
    expect(await sdk.client.getBlock(blockId)).toEqual(block)

    const [toOther = '', toSelf = ''] = sent.created
    const updates = await feed.take(3)
    expect(updates.map(({ milestoneIndex: _, ...update }) => update)).toEqual(
      [
        { address: sdk.addresses[from], outputId, isSpent: true },
        { address: sdk.addresses[to], outputId: toOther, isSpent: false },
        { address: sdk.addresses[from], outputId: toSelf, isSpent: false },
      ].sort(byOutputId),
    )
    for (const update of updates) {
      const { address, ...item } = update
      expect(await itemsByRest(address)).toContainEqual(item)
      expect(await updatesByQuery(address)).toContainEqual(update)
    }
    expect(await transaction(sent.transactionId)).toEqual({
      state: 'FINALIZED',
      failure: null,
      blockId,
      inputs: [{ outputId, isSpent: true }],
      outputs: sent.created.map((id) => ({ outputId: id, isSpent: false })),
    })
    expect((await sdk.client.getOutput(toOther)).output).toEqual(
      sent.payload.transaction.outputs[0],
    )
  })
})

interface Update {
  readonly address: string
  readonly outputId: string
  readonly isSpent: boolean
  readonly milestoneIndex: number
}

/** The log orders the transactions of a slot by the bytes of their ids, which is also the order of the hex texts. */
function byOutputId(a: { outputId: string }, b: { outputId: string }): number {
  return a.outputId < b.outputId ? -1 : 1
}

const updateFields = 'address outputId isSpent milestoneIndex'

/** Opens a subscription and waits until it is live. */
async function follow(addresses: readonly string[]) {
  const socket = socketClient(gateway.url)
  const events = socket.iterate<{ ledgerUpdates: { updates?: readonly Update[] } }>({
    query: `subscription ($addresses: [String!]) {
      ledgerUpdates(addresses: $addresses) {
        __typename
        ... on LedgerUpdateBatch { updates { ${updateFields} } }
      }
    }`,
    variables: { addresses },
  })
  await events.next()
  return {
    /** Returns the next `count` updates. The caller notices a surplus of the last milestone. */
    take: async (count: number) => {
      const updates: Update[] = []
      while (updates.length < count) {
        const { value } = await events.next()
        updates.push(...(value?.data?.ledgerUpdates.updates ?? []))
      }
      await socket.dispose()
      return updates
    },
  }
}

async function itemsByRest(address: string): Promise<readonly object[]> {
  const path = `/api/explorer/v2/ledger/updates/by-address/${address}`
  const { items } = await restJson(gateway.url + path)
  return items.map(({ milestoneTimestamp: _, ...item }: { milestoneTimestamp: number }) => item)
}

async function updatesByQuery(address: string): Promise<readonly object[]> {
  const query = `query ($address: String!) {
    ledgerUpdates(address: $address) { nodes { ${updateFields} } }
  }`
  const { data } = await graphql(gateway.url, query, { address })
  return data.ledgerUpdates.nodes
}

async function transaction(id: string): Promise<object> {
  const query = `query ($id: TransactionId!) {
    transaction(id: $id) {
      state failure { name } blockId
      inputs { outputId isSpent } outputs { outputId isSpent }
    }
  }`
  return (await graphql(gateway.url, query, { id })).data.transaction
}

async function milestone(index: number): Promise<{ readonly commitmentId: string }> {
  const query = 'query ($index: UInt32!) { milestone(index: $index) { commitmentId } }'
  return (await graphql(gateway.url, query, { index })).data.milestone
}
