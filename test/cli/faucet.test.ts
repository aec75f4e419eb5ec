import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { faucet } from '../../src/cli/faucet.ts'
import { addressText } from '../support/chain-ids.ts'
import { restJson } from '../support/rest.ts'
import { runCommand } from '../support/run-command.ts'
import { startGateway, type TestGateway } from '../support/start-gateway.ts'
import { untilHealth } from '../support/wallet.ts'

/** `ledger-gateway faucet`: that it gives, and what it says when it cannot. */

const address = addressText(0, 1)

describe('asked wrongly', () => {
  const rows = [
    ['for nobody', [], ['ADDRESS is required']],
    ['for two at once', [address, address], ['only one ADDRESS is allowed']],
    ['for what is no address', ['x'], ['x is not a Bech32 address']],
    ['for nothing', [address, '--amount', '0'], ['--amount must be a whole number greater than 0']],
    [
      'without a host',
      [address, '--url', 'here'],
      ['--url must be http(s)://HOST[:PORT][/PATH], not here'],
    ],
    ['by an unknown flag', ['--much', address], ['--much is unknown']],
  ] as const
  test.each(rows)('%s', async (_name, words, sentences) => {
    const { stdout, stderr, code } = await runCommand(faucet, words)
    const said = sentences.map((sentence) => `ledger-gateway faucet: ${sentence}\n`).join('')
    expect([code, stdout, stderr]).toEqual([2, '', `${said}Try: ledger-gateway faucet --help\n`])
  })
})

describe('asked where no gateway is', () => {
  let server: Server
  let url: string
  beforeAll(async () => {
    server = createServer((_request, response) => response.end('hello'))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterAll(() => server.close())

  test('says what answers, with the flags in front too', async () => {
    const { stderr, code } = await runCommand(faucet, ['--url', url, address])
    expect([code, stderr]).toEqual([
      1,
      `ledger-gateway faucet: ${url}: the server is not a gateway\n`,
    ])
  })

  test('pays nobody on another network', async () => {
    const gateway = await startGateway()
    // It pays once it has caught up with the clock.
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

  test('says that no server answers', async () => {
    // The first port of all is nobody's.
    const away = 'http://127.0.0.1:1'
    const { stderr, code } = await runCommand(faucet, [address, '--url', away])
    expect(code).toBe(1)
    expect(stderr).toMatch(
      /^ledger-gateway faucet: http:\/\/127\.0\.0\.1:1: no server is reachable.*; is the gateway running\?\n$/,
    )
  })
})

describe('asked where a gateway is', () => {
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startGateway()
    await untilHealth(gateway.url)
  })
  afterAll(() => gateway.close())

  const to = addressText(0, 7, { hrp: 'tst' })
  const give = (...words: string[]) => runCommand(faucet, [...words, '--url', gateway.url])

  /** The amounts that a transaction of the faucet sends to the address. */
  async function sent(transactionId: string): Promise<string[]> {
    const { outputs } = await restJson(`${gateway.url}/api/core/v3/transactions/${transactionId}`)
    const isTo = (output: { unlockConditions: { address: { pubKeyHash: string } }[] }) =>
      output.unlockConditions[0]?.address.pubKeyHash === `0x${'07'.repeat(32)}`
    return outputs.filter(isTo).map(({ amount }: { amount: string }) => amount)
  }

  test('gives twice, one after the other', async () => {
    for (const amount of ['1000000', '2000000']) {
      const { stdout, stderr, code } = await give(to, '--amount', amount)
      expect([code, stderr]).toEqual([0, ''])
      const { transactionId, ...said } = JSON.parse(stdout)
      expect(said).toEqual({ address: to, amount })
      expect(await sent(transactionId)).toEqual([amount])
    }
  })

  test('gives ten at once, to one address and more than the faucet gives of itself', async () => {
    const runs = await Promise.all(
      Array.from({ length: 10 }, (_, i) => give(to, '--amount', String(10_000_000_000 + i))),
    )
    expect(runs.map(({ code, stderr }) => [code, stderr])).toEqual(runs.map(() => [0, '']))
    const ids = [...new Set(runs.map(({ stdout }) => JSON.parse(stdout).transactionId))]
    const amounts = (await Promise.all(ids.map(sent))).flat()
    expect(amounts.toSorted()).toEqual(runs.map((_, i) => String(10_000_000_000 + i)))
  })

  test('says to people what it gave', async () => {
    const words = [to, '--amount', '3000000', '--url', gateway.url]
    const { stdout } = await runCommand(faucet, words, { isTerminal: true })
    expect(stdout).toMatch(
      /^Sent 3000000 base tokens to tst1\w+ in transaction 0x[0-9a-f]{72}\.\n$/,
    )
    const forced = await runCommand(faucet, [...words, '--json'], { isTerminal: true })
    expect(JSON.parse(forced.stdout)).toMatchObject({ amount: '3000000' })
  })

  test('says what it cannot give', async () => {
    const { stderr, code } = await give(to, '--amount', '1')
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(
        /: amount: must be at least \d+, the minimum deposit of an output to this address\n$/,
      ),
    ])
    const much = await give(to, '--amount', String(10n ** 18n))
    expect([much.code, much.stderr]).toEqual([
      1,
      `ledger-gateway faucet: ${gateway.url}: the faucet could not pay: funds missing\n`,
    ])
  })
})
