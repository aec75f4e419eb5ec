import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { faucet } from '../../src/cli/faucet.ts'
import { addressText } from '../support/chain-ids.ts'
import { restJson } from '../support/rest.ts'
import { runCommand } from '../support/run-command.ts'
import { startGateway, type TestGateway } from '../support/start-gateway.ts'
import { untilHealth } from '../support/wallet.ts'

/** `ledger-gateway faucet`: payments and error messages. */

const address = addressText(0, 1)

describe('the faucet command reports wrong arguments:', () => {
  const rows = [
    ['no address', [], ['ADDRESS is required']],
    ['two addresses', [address, address], ['only one ADDRESS is allowed']],
    ['an invalid address', ['x'], ['x is not a Bech32 address']],
    [
      'an amount of 0',
      [address, '--amount', '0'],
      ['--amount must be a whole number from 1 to 18446744073709551615'],
    ],
    [
      'an amount that no output can hold',
      [address, '--amount', '18446744073709551616'],
      ['--amount must be a whole number from 1 to 18446744073709551615'],
    ],
    [
      'an invalid URL',
      [address, '--url', 'here'],
      ['--url must be http(s)://HOST[:PORT][/PATH], not here'],
    ],
    ['an unknown flag', ['--much', address], ['--much is unknown']],
  ] as const
  test.each(rows)('%s', async (_name, words, sentences) => {
    const { stdout, stderr, code } = await runCommand(faucet, words)
    const messages = sentences.map((sentence) => `ledger-gateway faucet: ${sentence}\n`).join('')
    expect([code, stdout, stderr]).toEqual([
      2,
      '',
      `${messages}Try: ledger-gateway faucet --help\n`,
    ])
  })
})

describe('the faucet command without a gateway of its network', () => {
  let server: Server
  let url: string
  beforeAll(async () => {
    server = createServer((_request, response) => response.end('hello'))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterAll(() => server.close())

  test('reports a server that is not a gateway, also with the flags first', async () => {
    const { stderr, code } = await runCommand(faucet, ['--url', url, address])
    expect([code, stderr]).toEqual([
      1,
      `ledger-gateway faucet: ${url}: the server is not a gateway\n`,
    ])
  })

  test('rejects an address of another network', async () => {
    const gateway = await startGateway()
    // The faucet pays once the ledger has caught up with the clock.
    await untilHealth(gateway.url)
    const foreign = addressText(0, 1, { hrp: 'smr' })
    const { stderr, code } = await runCommand(faucet, [foreign, '--url', gateway.url])
    expect([code, stderr]).toEqual([
      1,
      `ledger-gateway faucet: ${foreign} is an address of another network; addresses of this network start with tst1\n`,
    ])
    const paid = await runCommand(faucet, [addressText(0, 1, { hrp: 'tst' }), '--url', gateway.url])
    expect(JSON.parse(paid.stdout).transactionId).toMatch(/^0x[0-9a-f]{72}$/)
    await gateway.close()
  })

  test('reports that no server is reachable', async () => {
    // No program listens on port 1.
    const away = 'http://127.0.0.1:1'
    const { stderr, code } = await runCommand(faucet, [address, '--url', away])
    expect(code).toBe(1)
    expect(stderr).toMatch(
      /^ledger-gateway faucet: http:\/\/127\.0\.0\.1:1: no server is reachable.*; is the gateway running\?\n$/,
    )
  })
})

describe('the faucet command with a gateway', () => {
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startGateway()
    await untilHealth(gateway.url)
  })
  afterAll(() => gateway.close())

  const to = addressText(0, 7, { hrp: 'tst' })
  const pay = (...words: string[]) => runCommand(faucet, [...words, '--url', gateway.url])

  /** Returns the amounts that a transaction of the faucet sends to the address. */
  async function amountsSent(transactionId: string): Promise<string[]> {
    const { outputs } = await restJson(`${gateway.url}/api/core/v3/transactions/${transactionId}`)
    const isTo = (output: { unlockConditions: { address: { pubKeyHash: string } }[] }) =>
      output.unlockConditions[0]?.address.pubKeyHash === `0x${'07'.repeat(32)}`
    return outputs.filter(isTo).map(({ amount }: { amount: string }) => amount)
  }

  test('pays twice in succession', async () => {
    for (const amount of ['1000000', '2000000']) {
      const { stdout, stderr, code } = await pay(to, '--amount', amount)
      expect([code, stderr]).toEqual([0, ''])
      const { transactionId, ...payment } = JSON.parse(stdout)
      expect(payment).toEqual({ address: to, amount })
      expect(await amountsSent(transactionId)).toEqual([amount])
    }
  })

  test('pays ten times at once to one address, each time more than the usual amount', async () => {
    const runs = await Promise.all(
      Array.from({ length: 10 }, (_, i) => pay(to, '--amount', String(10_000_000_000 + i))),
    )
    expect(runs.map(({ code, stderr }) => [code, stderr])).toEqual(runs.map(() => [0, '']))
    const ids = [...new Set(runs.map(({ stdout }) => JSON.parse(stdout).transactionId))]
    const amounts = (await Promise.all(ids.map(amountsSent))).flat()
    expect(amounts.toSorted()).toEqual(runs.map((_, i) => String(10_000_000_000 + i)))
  })

  test('prints the payment as text on a terminal', async () => {
    const words = [to, '--amount', '3000000', '--url', gateway.url]
    const { stdout } = await runCommand(faucet, words, { isTerminal: true })
    expect(stdout).toMatch(
      /^Sent 3000000 base tokens to tst1\w+ in transaction 0x[0-9a-f]{72}\.\n$/,
    )
    const forced = await runCommand(faucet, [...words, '--json'], { isTerminal: true })
    expect(JSON.parse(forced.stdout)).toMatchObject({ amount: '3000000' })
  })

  test('reports an amount that it cannot pay', async () => {
    const { stderr, code } = await pay(to, '--amount', '1')
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(
        /: amount: must be at least \d+, the minimum deposit of an output to this address\n$/,
      ),
    ])
    const much = await pay(to, '--amount', String(10n ** 18n))
    expect([much.code, much.stderr]).toEqual([
      1,
      `ledger-gateway faucet: ${gateway.url}: the faucet could not pay: funds missing\n`,
    ])
  })
})
