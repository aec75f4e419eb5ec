import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { present } from '../../../src/lib/assert.ts'
import { developmentKeys } from '../../../src/node/embedded/development.ts'
import { encodeBech32 } from '../../../src/protocol/bech32.ts'
import { graphql } from '../../support/client.ts'
import { rest, restJson } from '../../support/rest.ts'
import { startGateway, type TestGateway } from '../../support/start-gateway.ts'
import { acceptedId, post, refusal } from '../../support/submit.ts'
import { until } from '../../support/until.ts'
import {
  addressOf,
  blockOf,
  genesisOutputs,
  offerOf,
  ownedBy,
  paymentOf,
  slotNow,
  untilHealth,
  user,
} from '../../support/wallet.ts'

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startGateway()
  await untilHealth(gateway.url)
})
afterAll(() => gateway.close())

function addressText(fill: number, hrp = 'tst'): string {
  return encodeBech32(hrp, Uint8Array.of(0, ...new Uint8Array(32).fill(fill)))
}

function requestFunds(
  body: unknown,
  headers: Record<string, string> = {},
  query = '',
): Promise<Response> {
  return rest(`${gateway.url}/api/enqueue${query}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
}

/** Waits until an address has `count` updates, and returns its updates. */
async function updatesOf(address: string, count = 1): Promise<readonly { outputId: string }[]> {
  const url = `${gateway.url}/api/explorer/v2/ledger/updates/by-address/${address}`
  return until(async () => {
    const { items } = await restJson(url)
    return items.length >= count && items
  })
}

test('many concurrent requests are paid together', async () => {
  const addresses = Array.from({ length: 150 }, (_, i) => addressText(i))
  const responses = await Promise.all(addresses.map((address) => requestFunds({ address })))
  expect(responses.map(({ status }) => status)).toEqual(addresses.map(() => 202))
  const bodies = await Promise.all(responses.map((response) => response.json()))
  expect(bodies.map(({ address }) => address)).toEqual(addresses)
  const outputs = await Promise.all(addresses.map((address) => updatesOf(address)))
  const amounts = await Promise.all(outputs.map(([one]) => amountOf(one?.outputId ?? '')))
  expect(new Set(amounts)).toEqual(new Set(['1000000000']))
})

function requestFromFaucet(variables: { readonly address: string; readonly amount?: string }) {
  return graphql(
    gateway.url,
    `mutation ($address: String!, $amount: UInt64) {
      requestFromFaucet(address: $address, amount: $amount) { address transactionId waitingRequests }
    }`,
    variables,
  )
}

test('a request by GraphQL waits for its payment', async () => {
  const address = addressText(211)
  const { data, errors } = await requestFromFaucet({ address, amount: '2000000' })
  expect(errors).toBeUndefined()
  expect(data.requestFromFaucet).toMatchObject({ address, waitingRequests: 1 })
  const [output] = await updatesOf(address)
  expect(output?.outputId).toContain(data.requestFromFaucet.transactionId)
  expect(await amountOf(output?.outputId ?? '')).toBe('2000000')
})

test.each([
  [{ address: 'tst1' }, 'ADDRESS_MALFORMED'],
  [{ address: addressText(1, 'iota') }, 'ADDRESS_OF_ANOTHER_NETWORK'],
  [{ address: addressText(212), amount: '1' }, 'FAUCET_AMOUNT_TOO_SMALL'],
])('GraphQL refuses %j with %s', async (variables, code) => {
  const { data, errors } = await requestFromFaucet(variables)
  expect(data).toEqual({ requestFromFaucet: null })
  expect(errors?.[0]?.extensions.code).toBe(code)
})

test('an address with some funds gets less', async () => {
  const address = addressOf(user(7))
  expect((await requestFunds({ address })).status).toBe(202)
  const [newest] = await updatesOf(address, 2)
  expect(await amountOf(newest?.outputId ?? '')).toBe('100000000')
})

test('an address with enough funds gets nothing', async () => {
  const rich = user(8)
  const offer = await offerOf(gateway.url)
  for (const index of [1, 2, 3, 4]) {
    const spend = present((await genesisOutputs(gateway.url, user(index)))[0], 'an output')
    const { payload } = paymentOf(offer.network, {
      spend,
      key: user(index),
      outputs: [ownedBy(rich, 1_000_000_000n)],
      creationSlot: slotNow(offer.network),
    })
    await acceptedId(await post(gateway.url, blockOf(offer, payload).bytes))
  }
  const address = addressOf(rich)
  await updatesOf(address, 5)
  expect(await refusal(await requestFunds({ address }))).toEqual([
    400,
    `address: ${address} already holds 5000000000 base tokens or more`,
  ])
  const { errors } = await requestFromFaucet({ address })
  expect(errors?.[0]?.extensions.code).toBe('FAUCET_FUNDS_ENOUGH')
})

test('an address has at most one waiting request', async () => {
  const address = addressText(200)
  const responses = await Promise.all([1, 2, 3].map(() => requestFunds({ address })))
  const statuses = responses.map(({ status }) => status).toSorted()
  expect(statuses).toEqual([202, 400, 400])
  await updatesOf(address)
})

test('a named amount is paid for each request, and a request that waits gets the transaction id', async () => {
  const address = addressText(201)
  const amounts = ['1000000', '2000000', '2000000']
  const responses = await Promise.all(
    amounts.map((amount) => requestFunds({ address, amount }, {}, '?wait=60')),
  )
  expect(responses.map(({ status }) => status)).toEqual([200, 200, 200])
  const bodies = await Promise.all(responses.map((response) => response.json()))
  for (const body of bodies) {
    const transactionId = expect.stringMatching(/^0x[0-9a-f]{72}$/)
    expect(body).toEqual({ address, transactionId })
  }
  const outputs = await updatesOf(address, 3)
  const paid = await Promise.all(outputs.map(({ outputId }) => amountOf(outputId)))
  expect(paid.toSorted()).toEqual(amounts)
})

test('a request for more than the faucet has does not affect other requests', async () => {
  const [rich, poor] = [addressText(202), addressText(203)]
  // The first request is being paid while the others wait together.
  const [, refused, paid] = await Promise.all([
    requestFunds({ address: addressText(204) }, {}, '?wait=60'),
    requestFunds({ address: rich, amount: String(10n ** 18n) }, {}, '?wait=60'),
    requestFunds({ address: poor }, {}, '?wait=60'),
  ])
  expect(await refusal(refused)).toEqual([503, 'the faucet could not pay: funds missing'])
  expect(paid.status).toBe(200)
  // An error of a single request is not a fault of the gateway (docs/operations.md).
  const faults = gateway.logged.filter((line) => /"level":"(warn|error)"/.test(line))
  expect(faults).toEqual([])
})

test('small outputs that are sent to the faucet do not hide its funds', async () => {
  const faucet = addressOf(developmentKeys().faucet)
  const amount = '1000000'
  const sent = await Promise.all(
    Array.from({ length: 120 }, () => requestFunds({ address: faucet, amount }, {}, '?wait=60')),
  )
  expect(new Set(sent.map(({ status }) => status))).toEqual(new Set([200]))
  for (const address of [addressText(205), addressText(206)]) {
    expect((await requestFunds({ address }, {}, '?wait=60')).status).toBe(200)
  }
})

describe('the faucet refuses', () => {
  const rows: readonly (readonly [string, unknown, Record<string, string>, string])[] = [
    ['no address', {}, {}, 'address: expected'],
    ['an address that is not text', { address: 1 }, {}, 'address: expected'],
    ['a list', [], {}, 'address: expected'],
    ['an amount as a number', { address: addressText(1), amount: 5 }, {}, 'amount: expected'],
    ['an amount of 65 bits', { address: addressText(1), amount: `${2n ** 64n}` }, {}, 'amount: ex'],
    [
      'too small an amount',
      { address: addressText(1), amount: '1' },
      {},
      'amount: must be at least',
    ],
    ['null', 'null', {}, 'address: expected'],
    ['text that is not an address', { address: 'x' }, {}, 'address: not a Bech32'],
    [
      'an address of another network',
      { address: addressText(1, 'iota') },
      {},
      'address: an address of the',
    ],
    ['a body that is not JSON', '{', {}, 'body: not JSON'],
    [
      'a form',
      'address=x',
      { 'content-type': 'application/x-www-form-urlencoded' },
      'Content-Type',
    ],
  ]
  test.each(rows)('%s', async (_name, body, headers, start) => {
    const [status, message] = await refusal(await requestFunds(body, headers))
    expect([status, message.slice(0, start.length)]).toEqual([400, start])
  })

  test('a wait of more than a minute', async () => {
    const response = await requestFunds({ address: addressText(1) }, {}, '?wait=61')
    expect(await refusal(response)).toEqual([400, 'query: wait must be 0 to 60 seconds'])
  })

  test('a multi address reference, to which nothing can be sent', async () => {
    const reference = encodeBech32('tst', Uint8Array.of(40, ...new Uint8Array(32)))
    expect((await refusal(await requestFunds({ address: reference })))[0]).toBe(400)
  })
})

async function amountOf(outputId: string): Promise<string> {
  return (await restJson(`${gateway.url}/api/core/v3/outputs/${outputId}`)).output.amount
}
