import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hexToBytes } from '../../../src/lib/hex.ts'
import { accountIdOfKey, developmentKeys } from '../../../src/node/embedded/development.ts'
import { encodeBech32 } from '../../../src/protocol/bech32.ts'
import {
  Committee,
  Congestion,
  ManaRewards,
  Validator,
  Validators,
} from '../../../src/protocol/node-responses.ts'
import { decode, print, type Schema } from '../../../src/protocol/schema/schema.ts'
import { rest, restJson } from '../../support/rest.ts'
import { startGateway, type TestGateway } from '../../support/start-gateway.ts'
import { binary, refusal } from '../../support/submit.ts'
import { until } from '../../support/until.ts'
import { addressOf, issuer, untilHealth, user } from '../../support/wallet.ts'

let gateway: TestGateway
let core: string
let staking: string
beforeAll(async () => {
  gateway = await startGateway()
  core = `${gateway.url}/api/core/v3`
  await untilHealth(gateway.url)
  // The network's own validator announces its candidacy in its first block.
  await until(async () => (await restJson(`${core}/validators`)).validators.length > 0)
  const genesis = await restJson(`${core}/commitments/by-slot/0/utxo-changes/full`)
  interface Created {
    readonly outputId: string
    readonly output: { readonly features?: readonly { readonly type: number }[] }
  }
  const created: readonly Created[] = genesis.createdOutputs
  const isStaking = ({ output }: Created) => output.features?.some(({ type }) => type === 7)
  staking = created.find(isStaking)?.outputId ?? ''
})
afterAll(() => gateway.close())

const account = accountText(issuer.accountId)
const validator = accountText(accountIdOfKey(developmentKeys().issuer))

function accountText(accountId: `0x${string}`, hrp = 'tst'): string {
  return encodeBech32(hrp, Uint8Array.of(8, ...hexToBytes(accountId)))
}

describe('a route returns the same as JSON and as bytes:', () => {
  const rows: readonly (readonly [string, () => string, Schema<unknown>])[] = [
    ['congestion', () => `accounts/${account}/congestion?commitmentId=${genesisId}`, Congestion],
    ['rewards', () => `rewards/${staking}?slot=1`, ManaRewards],
    ['validators', () => 'validators', Validators],
    ['a validator', () => `validators/${validator}`, Validator],
    ['the committee', () => 'committee', Committee],
  ]
  let genesisId: string
  beforeAll(async () => {
    const changes = await restJson(`${core}/commitments/by-slot/0/utxo-changes`)
    genesisId = changes.commitmentId
  })
  test.each(rows)('%s', async (_name, path, schema) => {
    const json = await restJson(`${core}/${path()}`)
    const raw = await rest(`${core}/${path()}`, { headers: { accept: binary } })
    const value = decode(schema, new Uint8Array(await raw.arrayBuffer()))
    expect(value.ok && print(schema, value.value)).toEqual(json)
  })
})

test('congestion has the cost of a block and the credits of the account', async () => {
  const congestion = await restJson(`${core}/accounts/${account}/congestion?workScore=1000`)
  expect(congestion).toEqual({
    slot: expect.any(Number),
    ready: true,
    referenceManaCost: '1',
    blockIssuanceCredits: expect.stringMatching(/^\d+$/),
  })
})

test('the account with stake is a validator, and the whole committee', async () => {
  const { validators, pageSize, cursor } = await restJson(`${core}/validators`)
  expect([validators.length, pageSize, cursor]).toEqual([1, 100, undefined])
  const [only] = validators
  expect(only).toMatchObject({ address: validator, poolStake: '100000000', active: true })
  expect(await restJson(`${core}/validators/${validator}`)).toMatchObject({ address: validator })
  expect(await restJson(`${core}/validators/${account}`)).toMatchObject({
    validatorStake: '0',
    active: false,
  })
  const { address, poolStake, validatorStake, fixedCost } = only
  expect(await restJson(`${core}/committee?epoch=0`)).toEqual({
    committee: [{ address, poolStake, validatorStake, fixedCost }],
    totalStake: poolStake,
    totalValidatorStake: validatorStake,
    epoch: 0,
  })
  expect(await restJson(`${core}/committee?epochIndex=0`)).toMatchObject({ epoch: 0 })
})

describe('a page of validators', () => {
  const sizes = [
    ['1', 1],
    ['100', 100],
    ['101', 100],
    ['0', 100],
    ['x', 100],
    ['-1', 100],
    ['1.5', 100],
  ] as const
  test.each(sizes)('requested with pageSize=%s has the size %i', async (given, pageSize) => {
    expect((await restJson(`${core}/validators?pageSize=${given}`)).pageSize).toBe(pageSize)
  })

  test('begins at the cursor', async () => {
    expect((await restJson(`${core}/validators?cursor=`)).validators).toHaveLength(1)
    expect((await restJson(`${core}/validators?cursor=0,1`)).validators).toEqual([])
  })
})

test('a stake in the first epoch has no rewards yet', async () => {
  expect(await restJson(`${core}/rewards/${staking}`)).toMatchObject({
    rewards: '0',
    latestCommittedEpochPoolRewards: '0',
  })
})

describe('core routes refuse', () => {
  const unknownAccount = accountText(`0x${'77'.repeat(32)}`)
  const unknownOutput = `0x${'ab'.repeat(38)}`
  const rows = [
    ['an account that does not exist', `accounts/${unknownAccount}/congestion`, 404],
    ['a validator that does not exist', `validators/${unknownAccount}`, 404],
    ['the address of a key', `accounts/${addressOf(user(0))}/congestion`, 400],
    [
      'an address of another network',
      `accounts/${accountText(issuer.accountId, 'iota')}/congestion`,
      400,
    ],
    ['text that is not an address', 'validators/x', 400],
    [
      'an unknown commitment',
      `accounts/${account}/congestion?commitmentId=0x${'11'.repeat(36)}`,
      404,
    ],
    ['a truncated commitment id', `accounts/${account}/congestion?commitmentId=0x11`, 400],
    ['a malformed work score', `accounts/${account}/congestion?workScore=x`, 400],
    ['a future epoch', 'committee?epoch=4294967295', 400],
    ['a malformed epoch', 'committee?epoch=x', 400],
    ['a cursor without a comma', 'validators?cursor=1', 400],
    ['a cursor of a future epoch', 'validators?cursor=9,0', 400],
    ['an output that does not exist', `rewards/${unknownOutput}`, 404],
    ['a truncated output id', 'rewards/0x', 400],
    ['a malformed slot', `rewards/${unknownOutput}?slot=x`, 400],
  ] as const
  test.each(rows)('%s', async (_name, path, status) => {
    expect((await refusal(await rest(`${core}/${path}`)))[0]).toBe(status)
  })

  test('an output without rewards', async () => {
    const { items } = await restJson(
      `${gateway.url}/api/explorer/v2/ledger/updates/by-address/${addressOf(user(1))}`,
    )
    const [status, message] = await refusal(await rest(`${core}/rewards/${items[0].outputId}`))
    expect([status, message]).toEqual([
      400,
      `the output ${items[0].outputId} is neither a delegation nor an account with stake`,
    ])
  })
})
