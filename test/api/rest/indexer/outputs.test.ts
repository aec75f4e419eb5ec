import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { present } from '../../../../src/lib/assert.ts'
import { type Hex, hexToBytes } from '../../../../src/lib/hex.ts'
import { type Address, MultiAddress } from '../../../../src/protocol/addresses.ts'
import { encodeBech32 } from '../../../../src/protocol/bech32.ts'
import { addressKey } from '../../../../src/protocol/ids.ts'
import { FoundOutputs } from '../../../../src/protocol/node-responses.ts'
import { Output } from '../../../../src/protocol/outputs.ts'
import { decode, print } from '../../../../src/protocol/schema/schema.ts'
import { graphql } from '../../../support/client.ts'
import { startFromGenesis } from '../../../support/genesis-gateway.ts'
import { parsed } from '../../../support/parsed.ts'
import { createRandom } from '../../../support/random.ts'
import {
  randomAddresses,
  randomOutput,
  randomOwners,
  randomTokens,
} from '../../../support/random-outputs.ts'
import { rest, restJson } from '../../../support/rest.ts'
import type { TestGateway } from '../../../support/start-gateway.ts'
import { binary, refusal } from '../../../support/submit.ts'
import { until } from '../../../support/until.ts'
import { addressOf, user } from '../../../support/wallet.ts'

const random = createRandom(23)
const [first, second] = randomAddresses
const multi: MultiAddress = {
  type: 40,
  addresses: [first, second].map((address) => ({
    address: present(address, 'address'),
    weight: 1,
  })),
  threshold: 2,
}
const genesisOutputs: readonly Output[] = [
  ...Array.from({ length: 120 }, () => randomOutput(random, 64, 60)),
  {
    type: 0,
    amount: 500n,
    mana: 0n,
    unlockConditions: [
      { type: 0, address: { type: 48, address: multi, allowedCapabilities: '0x01' } },
    ],
    features: [],
  },
]

let gateway: TestGateway
let indexer: string
let all: readonly { readonly outputId: string; readonly output: Output }[]
beforeAll(async () => {
  gateway = await startFromGenesis(genesisOutputs)
  indexer = `${gateway.url}/api/indexer/v2`
  const path = '/api/core/v3/commitments/by-slot/0/utxo-changes/full'
  const { createdOutputs } = await restJson(gateway.url + path)
  all = createdOutputs.map(({ outputId, output }: { outputId: string; output: unknown }) => ({
    outputId,
    output: parsed(Output, output),
  }))
})
afterAll(() => gateway.close())

function text(address: Address): string {
  return encodeBech32('tst', hexToBytes(addressKey(address)))
}

/** Reads the conditions and features of an output in the simplest way. */
function partsOf(output: Output) {
  const conditions: readonly { type: number; slot?: number }[] = output.unlockConditions
  const features: readonly { type: number }[] = 'features' in output ? output.features : []
  const immutable = 'immutableFeatures' in output ? output.immutableFeatures : []
  const parts = [
    ...conditions,
    ...[...features, ...immutable].map((f) => ({ ...f, type: 100 + f.type })),
  ]
  const part = (type: number) => parts.find((one) => one.type === type)
  const addressIn = (type: number) => {
    const { address, returnAddress } = Object(part(type))
    const named = address ?? returnAddress
    return named === undefined ? undefined : addressKey(named)
  }
  return { part, addressIn, slotOf: (type: number): number | undefined => Object(part(type)).slot }
}

type Matches = (output: Output) => boolean

/** Yields every filter with a value, and its simplest implementation. */
function* filters(): Generator<readonly [string, string, Matches]> {
  for (const address of randomOwners) {
    const key: Hex = addressKey(address)
    const at =
      (...types: number[]) =>
      (output: Output) =>
        types.some((type) => partsOf(output).addressIn(type) === key)
    yield ['address', text(address), at(0)]
    yield ['unlockableByAddress', text(address), at(0, 1, 3, 4, 5, 6)]
    yield ['storageDepositReturnAddress', text(address), at(1)]
    yield ['expirationReturnAddress', text(address), at(3)]
    yield ['stateController', text(address), at(4)]
    yield ['governor', text(address), at(5)]
    yield ['sender', text(address), at(100)]
    yield ['issuer', text(address), at(101)]
    if (address.type !== 8) continue
    yield ['account', text(address), at(6)]
    yield ['accountAddress', text(address), at(6)]
    const validates = (output: Output) =>
      output.type === 5 && addressKey(output.validatorAddress) === key
    yield ['validator', text(address), validates]
  }
  for (const is of [true, false]) {
    const has = (type: number) => (output: Output) =>
      (partsOf(output).part(type) !== undefined) === is
    yield ['hasStorageDepositReturn', String(is), has(1)]
    yield ['hasTimelock', String(is), has(2)]
    yield ['hasExpiration', String(is), has(3)]
    yield ['hasNativeToken', String(is), has(105)]
  }
  for (const slot of [0, 30, 64, 100, 4_294_967_295]) {
    const before = (type: number) => (output: Output) =>
      (partsOf(output).slotOf(type) ?? Infinity) < slot
    const after = (type: number) => (output: Output) => (partsOf(output).slotOf(type) ?? -1) > slot
    yield ['timelockedBefore', String(slot), before(2)]
    yield ['timelockedAfter', String(slot), after(2)]
    yield ['expiresBefore', String(slot), before(3)]
    yield ['expiresAfter', String(slot), after(3)]
    yield ['createdBefore', String(slot), () => slot > 0]
    yield ['createdAfter', String(slot), () => false]
  }
  for (const tag of ['0x01', '0x02', '0x03']) {
    yield ['tag', tag, (output) => Object(partsOf(output).part(104)).tag === tag]
  }
  for (const token of randomTokens) {
    yield ['nativeToken', token, (output) => Object(partsOf(output).part(105)).id === token]
  }
}

const kinds = new Map([
  ['outputs', [0, 1, 2, 3, 4, 5]],
  ['outputs/basic', [0]],
  ['outputs/account', [1]],
  ['outputs/anchor', [2]],
  ['outputs/foundry', [3]],
  ['outputs/nft', [4]],
  ['outputs/delegation', [5]],
])

interface Operation {
  readonly parameters: readonly { readonly name: string }[]
}

describe.each([...kinds])('/%s', (path, types) => {
  const ofKind = () => all.filter(({ output }) => types.includes(output.type))
  const idsWhere = (matches: Matches) =>
    ofKind()
      .filter(({ output }) => matches(output))
      .map(({ outputId }) => outputId)
  let known: readonly string[]
  beforeAll(async () => {
    const document = await restJson(`${gateway.url}/openapi.json`)
    const { parameters }: Operation = document.paths[`/api/indexer/v2/${path}`].get
    known = parameters.map(({ name }) => name)
  })

  test('has all outputs of its kinds in order', async () => {
    const { items, cursor, pageSize } = await restJson(`${indexer}/${path}`)
    expect(items).toEqual(idsWhere(() => true).toSorted())
    expect([cursor, pageSize]).toEqual([undefined, 1_000])
  })

  test('applies each filter, alone and with another', async () => {
    const tested = [...filters()].filter(([name]) => known.includes(name))
    expect(new Set(tested.map(([name]) => name)).size).toBe(known.length - 2)
    for (const [i, [name, value, matches]] of tested.entries()) {
      const one = await restJson(`${indexer}/${path}?${name}=${value}`)
      expect(one.items, `${name}=${value}`).toEqual(idsWhere(matches).toSorted())
      const [second, other, also] = present(tested[(7 * i + 3) % tested.length], 'a filter')
      if (second === name) continue
      const both = await restJson(`${indexer}/${path}?${name}=${value}&${second}=${other}`)
      const expected = idsWhere((output) => matches(output) && also(output)).toSorted()
      expect(both.items, `${name}=${value}&${second}=${other}`).toEqual(expected)
    }
  })

  test('returns every output once, whatever the page size', async () => {
    for (const size of [1, 7, 50]) {
      const ids: string[] = []
      let cursor = ''
      do {
        const page = await restJson(`${indexer}/${path}?pageSize=${size}&cursor=${cursor}`)
        expect(page.pageSize).toBe(size)
        ids.push(...page.items)
        cursor = page.cursor ?? ''
      } while (cursor !== '')
      expect(ids).toEqual(idsWhere(() => true).toSorted())
    }
  })
})

describe('a page of outputs', () => {
  test('is the same as bytes', async () => {
    const url = `${indexer}/outputs?pageSize=3`
    const raw = await rest(url, { headers: { accept: binary } })
    const found = decode(FoundOutputs, new Uint8Array(await raw.arrayBuffer()))
    const json = await restJson(url)
    expect(found.ok && print(FoundOutputs, found.value)).toMatchObject({
      items: json.items,
      cursor: json.cursor,
    })
  })

  const sizes = [
    ['0', 1_000],
    ['x', 1_000],
    ['', 1_000],
    ['-1', 1_000],
    ['5000', 1_000],
    ['12', 12],
  ] as const
  test.each(sizes)('requested with the size "%s" has the size %i', async (size, expected) => {
    expect((await restJson(`${indexer}/outputs?pageSize=${size}`)).pageSize).toBe(expected)
  })

  test('has the size of its cursor', async () => {
    const { cursor } = await restJson(`${indexer}/outputs?pageSize=4`)
    const { pageSize, items } = await restJson(`${indexer}/outputs?pageSize=9&cursor=${cursor}`)
    expect([pageSize, items.length]).toEqual([4, 4])
  })

  test('without outputs has no items and no cursor', async () => {
    const nobody = encodeBech32('tst', Uint8Array.of(0, ...new Uint8Array(32).fill(9)))
    const page = await restJson(`${indexer}/outputs/basic?address=${nobody}`)
    expect(page).toEqual({ committedSlot: expect.any(Number), pageSize: 1_000, items: [] })
  })
})

describe('a chain in the index', () => {
  const names = [
    ['account', 1, 8, 'accountId'],
    ['anchor', 2, 24, 'anchorId'],
    ['nft', 4, 16, 'nftId'],
    ['delegation', 5, undefined, 'delegationId'],
  ] as const
  test.each(names)('of the kind %s is found by its id', async (name, type, kind, member) => {
    const one = present(
      all.find(({ output }) => output.type === type && output.amount !== 100_000_000n),
      `an output of the kind ${name}`,
    )
    const id: Hex = Object(one.output)[member]
    const named =
      kind === undefined ? id : encodeBech32('tst', Uint8Array.of(kind, ...hexToBytes(id)))
    const { items, pageSize } = await restJson(`${indexer}/outputs/${name}/${named}`)
    expect([items, pageSize]).toEqual([[one.outputId], 1])
  })

  const nowhere = '77'.repeat(32)
  const refused = [
    [`outputs/account/${encodeBech32('tst', hexToBytes(`0x08${nowhere}`))}`, 404],
    [`outputs/nft/${encodeBech32('tst', hexToBytes(`0x08${nowhere}`))}`, 400],
    [`outputs/anchor/${encodeBech32('iota', hexToBytes(`0x18${nowhere}`))}`, 400],
    [`outputs/delegation/0x${nowhere}`, 404],
    [`outputs/foundry/0x08${nowhere}0000000000`, 404],
    ['outputs/foundry/0x00', 400],
    ['outputs/account/x', 400],
    [`multiaddress/${encodeBech32('tst', hexToBytes(`0x28${nowhere}`))}`, 404],
    [`multiaddress/${addressOf(user(0))}`, 400],
    ['outputs?hasNativeToken=yes', 400],
    ['outputs?nativeToken=0x00', 400],
    [`outputs?unlockableByAddress=${encodeBech32('iota', hexToBytes(`0x00${nowhere}`))}`, 400],
    ['outputs/basic?timelockedBefore=x', 400],
    ['outputs/basic?tag=1', 400],
    [`outputs/basic?tag=0x${'00'.repeat(65)}`, 400],
    [`outputs/foundry?account=${addressOf(user(0))}`, 400],
    [`outputs/delegation?validator=${addressOf(user(0))}`, 400],
    ['outputs?cursor=x', 400],
    ['outputs?address=x', 400],
  ] as const
  test.each(refused)('%s has the status %i', async (path, status) => {
    expect((await refusal(await rest(`${indexer}/${path}`)))[0]).toBe(status)
  })
})

test('a multi address is returned by its text, also from inside a restricted address', async () => {
  const whole = await restJson(`${indexer}/multiaddress/${text(multi)}`)
  expect(whole).toEqual(print(MultiAddress, multi))
})

test('a multi address in GraphQL has the same content by its text as inside an output', async () => {
  const fields = 'id content { ... on MultiAddress { threshold addresses { weight } } }'
  const unknown = encodeBech32('tst', hexToBytes(`0x28${'77'.repeat(32)}`))
  const { data } = await graphql(
    gateway.url,
    `query ($address: String!, $unknown: String!) {
      address(address: $address) { ${fields} } unknown: address(address: $unknown) { ${fields} }
      outputs(filter: { kinds: [BASIC] }, first: 1000) { nodes { owner { content {
        ... on RestrictedAddress { address { ${fields} } } } } } } }`,
    { address: text(multi), unknown },
  )
  const inner = data.outputs.nodes.flatMap(
    ({ owner }: { owner: { content: { address?: object } } }) => owner.content.address ?? [],
  )
  expect(data.address.content.threshold).toBe(2)
  expect(inner).toContainEqual(data.address)
  expect(data.unknown.content).toBeNull()
})

test('the index is as healthy as the ledger', async () => {
  await until(async () => (await rest(`${indexer}/health`)).status === 200)
  expect(await restJson(`${indexer}/health`)).toEqual({ isHealthy: true })
})
