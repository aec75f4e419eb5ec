import {
  type AccountOutput,
  type OutputId,
  TaggedDataPayload,
  Utils,
  Wallet,
} from '@iota/sdk-wasm/node/lib/index.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  accountIdOfKey,
  developmentKeys,
  developmentMnemonic,
} from '../../src/node/embedded/development.ts'
import { writeGenesis } from '../support/genesis-gateway.ts'
import { openOlderClient } from '../support/older-client.ts'
import { type Program, startProgram } from '../support/program.ts'
import { createRandom } from '../support/random.ts'
import { randomOutput } from '../support/random-outputs.ts'
import { restJson } from '../support/rest.ts'
import { asList, openSdk, type Sdk } from '../support/sdk.ts'
import { until } from '../support/until.ts'
import { makeUsualFolder, type UsualFolder } from '../support/usual-folder.ts'
import {
  addressOf,
  genesisOutputs,
  issuer,
  untilCommitted,
  untilHealth,
  user,
} from '../support/wallet.ts'

/** Every call of the official client and of its predecessor that these routes serve (rest.md 7, 8). */

let folder: UsualFolder
let gateway: Program
let sdk: Sdk
beforeAll(async () => {
  folder = await makeUsualFolder()
  gateway = await startProgram({ DATABASE_URL: folder.databaseUrl })
  await untilHealth(gateway.url)
  sdk = await openSdk(gateway.url)
})
afterAll(async () => {
  await gateway.end('SIGTERM')
  await folder.remove()
})

describe('the official client reads the', () => {
  test('health of the node, whatever the path of the URL', async () => {
    expect(await sdk.client.getHealth(gateway.url)).toBe(true)
    expect(await sdk.client.getHealth(`${gateway.url}/somewhere`)).toBe(true)
  })

  test('routes of the node', async () => {
    const { routes } = await sdk.client.getRoutes()
    expect(routes).toEqual(expect.arrayContaining(['core/v3', 'indexer/v2', 'explorer/v2']))
  })

  test('information about the node, repeatedly', async () => {
    const info = await sdk.client.getInfo(gateway.url)
    expect(info.baseToken.subunit).toBe('glow')
    expect((await sdk.client.getNodeInfo()).info.status.isHealthy).toBe(true)
    expect(BigInt(await sdk.client.getTokenSupply())).toBe(1_813_620_509_061_365n)
    expect(await sdk.client.getNetworkId()).toMatch(/^\d+$/)
  })

  test('metrics of the network', async () => {
    const { blocksPerSecond, confirmationRate } = await sdk.client.getNetworkMetrics()
    expect(Number(blocksPerSecond)).toBeGreaterThanOrEqual(0)
    expect(Number(confirmationRate)).toBeLessThanOrEqual(100)
  })
})

describe('for accounts the official client reads', () => {
  const validator = accountIdOfKey(developmentKeys().issuer)

  test('the congestion', async () => {
    const congestion = await sdk.client.getAccountCongestion(issuer.accountId, 1_000)
    expect(congestion.ready).toBe(true)
    expect(BigInt(congestion.referenceManaCost)).toBe(1n)
  })

  test('the validators and the committee', async () => {
    // The validator of the network announces its candidacy in its first block.
    const { validators } = await until(async () => {
      const page = await sdk.client.getValidators(1)
      return page.validators.length > 0 && page
    })
    expect(validators).toHaveLength(1)
    const { address } = await sdk.client.getValidator(validator)
    expect(validators[0]?.address).toEqual(address)
    const committee = await sdk.client.getCommittee(0)
    expect(committee.committee.map((member) => member.address)).toEqual([address])
    expect((await sdk.client.getCommittee()).epoch).toBe(0)
  })

  test('the mana rewards', async () => {
    const outputId = await sdk.client.accountOutputId(validator)
    const { rewards } = await sdk.client.getOutputManaRewards(outputId)
    expect(BigInt(rewards)).toBe(0n)
  })
})

describe('the official client reads back what it sent', () => {
  test('a block in every form', async () => {
    const { block, blockId } = await sdk.block(new TaggedDataPayload('0x73646b', '0x01'))
    const bytes = Utils.blockBytes(block)
    expect(await sdk.client.postBlockRaw(asList(bytes))).toBe(blockId)
    const full = await sdk.client.getBlockWithMetadata(blockId)
    expect(full.block).toEqual(block)
    expect(full.metadata.blockId).toBe(blockId)
    expect(await sdk.client.findBlocks([blockId])).toEqual([block])
  })

  test('a transaction, its outputs and their slot', async () => {
    const [outputId = ''] = await genesisOutputs(gateway.url, user(1))
    const sent = await sdk.payment({
      outputId,
      from: 1,
      to: 2,
      amount: 300_000_000n,
      withCommitment: true,
    })
    const { block, blockId } = await sdk.block(sent.payload)
    await sdk.client.postBlock(block)
    const { client } = sdk
    const slot = Utils.computeSlotIndex(blockId)
    await untilCommitted(gateway.url, slot)
    const { transactionId } = sent
    expect((await client.getTransactionMetadata(transactionId)).transactionState).toMatch(
      /committed|finalized/,
    )
    expect(await client.getIncludedBlock(transactionId)).toEqual(block)
    expect(Array.from(await client.getIncludedBlockRaw(transactionId))).toEqual(
      Array.from(Utils.blockBytes(block)),
    )
    expect((await client.getIncludedBlockMetadata(transactionId)).blockId).toBe(blockId)
    await readsOutputs(sent.created, outputId)
    await readsSlot(slot, sent.created, outputId)
  })

  async function readsOutputs(created: readonly OutputId[], spent: OutputId): Promise<void> {
    const { client } = sdk
    const [first = ''] = created
    const { output, outputIdProof } = await client.getOutput(first)
    const full = await client.getOutputWithMetadata(first)
    expect(full.output).toEqual(output)
    expect(full.outputIdProof).toEqual(outputIdProof)
    expect(full.metadata).toEqual(await client.getOutputMetadata(first))
    expect((await client.getOutputRaw(first)).length).toBeGreaterThan(0)
    expect((await client.getOutputMetadata(spent)).spent).toBeDefined()
    expect(await client.getOutputs([...created])).toHaveLength(2)
    const nowhere = `0x${'ab'.repeat(36)}0000`
    expect(await client.getOutputsIgnoreNotFound([first, nowhere])).toHaveLength(1)
    await expect(client.getOutput(nowhere)).rejects.toThrow(/not found/)
  }

  async function readsSlot(slot: number, created: readonly OutputId[], spent: OutputId) {
    const { client } = sdk
    const commitment = await client.getCommitmentBySlot(slot)
    const id = Utils.computeSlotCommitmentId(commitment)
    expect(await client.getCommitment(id)).toEqual(commitment)
    expect(Array.from(await client.getCommitmentRaw(id))).toEqual(
      Array.from(await client.getCommitmentBySlotRaw(slot)),
    )
    const changes = await client.getUtxoChanges(id)
    expect(changes).toEqual(await client.getUtxoChangesBySlot(slot))
    expect(changes).toEqual({
      commitmentId: id,
      createdOutputs: [...created].sort(),
      consumedOutputs: [spent],
    })
    const full = await client.getUtxoChangesFull(id)
    expect(full.createdOutputs.map(({ outputId }) => outputId)).toEqual([...created].sort())
    expect(await client.getUtxoChangesFullBySlot(slot)).toEqual(full)
  }
})

test('the official client finds the inputs of a payment', async () => {
  const inputs = await sdk.client.findInputs([addressOf(user(4))], 500_000_000n)
  expect(inputs).toHaveLength(1)
})

test('the official client calls a route of the explorer', async () => {
  const path = `ledger/updates/by-address/${addressOf(user(4))}`
  const answer = await sdk.client.callPluginRoute('api/explorer/v2/', 'GET', path)
  expect(answer).toMatchObject({ items: [{ isSpent: false, milestoneIndex: 0 }] })
})

test('the official client requests funds from the faucet', async () => {
  const address = addressOf(user(5))
  const answer = await sdk.client.requestFundsFromFaucet(`${gateway.url}/api/enqueue`, address)
  expect(JSON.parse(answer)).toEqual({ address, waitingRequests: 1 })
})

describe('the official wallet', () => {
  function openWallet(index: number): Promise<Wallet> {
    return Wallet.create({
      address: addressOf(user(index)),
      bipPath: { coinType: 4218, account: 0, change: 0, addressIndex: index },
      clientOptions: { nodes: [gateway.url] },
      secretManager: { mnemonic: developmentMnemonic },
      storagePath: folder.file(`wallet-${index}`),
    })
  }

  test('has the right balance after a sync', async () => {
    const wallet = await openWallet(6)
    const { baseCoin, mana } = await wallet.sync()
    expect([BigInt(baseCoin.total), BigInt(baseCoin.available)]).toEqual([
      1_000_000_000n,
      1_000_000_000n,
    ])
    expect(BigInt(mana.total.potential)).toBeGreaterThan(0n)
    expect((await wallet.unspentOutputs()).map(({ outputId }) => outputId)).toEqual(
      await genesisOutputs(gateway.url, user(6)),
    )
    await wallet.destroy()
  })

  test('of an account holder also requests the foundries', async () => {
    const wallet = await openWallet(0)
    const { baseCoin, accounts } = await wallet.sync()
    expect(BigInt(baseCoin.total)).toBe(1_100_000_000n)
    expect(accounts).toEqual([issuer.accountId])
    await wallet.destroy()
  })
})

describe('on a ledger with all kinds of outputs the official client', () => {
  let other: Program
  let otherFolder: UsualFolder
  let all: Sdk
  const random = createRandom(41)
  const outputs = Array.from({ length: 110 }, () => randomOutput(random, 1_000_000, 50))
  const file = writeGenesis(outputs)
  beforeAll(async () => {
    otherFolder = await makeUsualFolder()
    other = await startProgram({ DATABASE_URL: otherFolder.databaseUrl, GENESIS_FILE: file.path })
    await untilHealth(other.url)
    all = await openSdk(other.url)
  })
  afterAll(async () => {
    await other.end('SIGTERM')
    await otherFolder.remove()
    file.remove()
  })

  test('finds outputs by kind, page by page to the end', async () => {
    const { client } = all
    const kinds = [
      [0, await client.basicOutputIds({ pageSize: 3 })],
      [1, await client.accountOutputIds({ pageSize: 3 })],
      [2, await client.anchorOutputIds({ pageSize: 3 })],
      [3, await client.foundryOutputIds({ pageSize: 3 })],
      [4, await client.nftOutputIds({ pageSize: 3 })],
      [5, await client.delegationOutputIds({ pageSize: 3 })],
    ] as const
    for (const [kind, { items, cursor }] of kinds) {
      const given = outputs.filter(({ type }) => type === kind).length
      // The genesis has an additional account and an additional basic output.
      expect([items.length, cursor ?? null], `kind ${kind}`).toEqual([
        given + (kind < 2 ? 1 : 0),
        null,
      ])
      // The client reads an anchor but calls it an account; the bytes hold the real type.
      for (const id of items) expect((await client.getOutputRaw(id))[0]).toBe(kind)
      for (const id of items.slice(0, 3)) await client.getOutputWithMetadata(id)
    }
    expect((await client.outputIds({ pageSize: 7 })).items).toHaveLength(outputs.length + 2)
  })

  test('finds outputs by address', async () => {
    const bech32 = await all.client.addressToBech32(
      Utils.parseBech32Address(addressOf(user(0))),
      'tst',
    )
    expect(bech32).toBe(addressOf(user(0)))
    const found = await all.client.outputIds({ unlockableByAddress: bech32 })
    expect(found.items).toHaveLength(2)
    const none = await all.client.basicOutputIds({ address: bech32, hasTimelock: true })
    expect(none.items).toEqual([])
  })

  test('finds a chain by its id', async () => {
    const { client } = all
    const { items } = await client.accountOutputIds({})
    for (const id of items.slice(0, 5)) {
      const account = (await client.getOutput(id)).output as AccountOutput
      expect(await client.accountOutputId(account.accountId)).toBe(id)
    }
    const nowhere = `0x${'77'.repeat(32)}`
    await expect(client.nftOutputId(nowhere)).rejects.toThrow(/not found/)
    await expect(client.anchorOutputId(nowhere)).rejects.toThrow(/not found/)
    await expect(client.delegationOutputId(nowhere)).rejects.toThrow(/not found/)
    await expect(client.foundryOutputId(`0x08${nowhere.slice(2)}0000000000`)).rejects.toThrow(
      /not found/,
    )
  })
})

describe('the older client', () => {
  interface Page {
    readonly items: readonly object[]
    readonly cursor?: string
  }

  test('calls explorer routes with a query', async () => {
    const client = openOlderClient(gateway.url)
    const path = `ledger/updates/by-address/${addressOf(user(1))}`
    const fetchPage = (query: readonly string[]) =>
      client.pluginFetch<Page>('explorer/v2/', 'get', path, query)
    const first = await fetchPage(['pageSize=1', 'sort=oldest'])
    const second = await fetchPage([`cursor=${first.cursor}`, 'sort=oldest'])
    const whole = await restJson(`${gateway.url}/api/explorer/v2/${path}?sort=oldest`)
    expect([...first.items, ...second.items]).toEqual(whole.items.slice(0, 2))
  })

  test('posts a body', async () => {
    const request = { address: addressOf(user(9)) }
    const answer = await openOlderClient(gateway.url).pluginFetch(
      '',
      'post',
      'enqueue',
      [],
      request,
    )
    expect(answer).toEqual({ address: addressOf(user(9)), waitingRequests: expect.any(Number) })
  })

  test('receives the reason of a rejection', async () => {
    const client = openOlderClient(gateway.url)
    const request = client.pluginFetch('explorer/v2/', 'get', 'ledger/updates/by-address/x')
    await expect(request).rejects.toThrow(/not a Bech32 address/)
  })
})
