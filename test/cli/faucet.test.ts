import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { faucet } from '../../src/cli/faucet.ts'
import { addressText } from '../support/chain-ids.ts'
import { runCommand } from '../support/run-command.ts'
import { startGateway } from '../support/start-gateway.ts'

/** What `ledger-gateway faucet` says when it cannot give. */

const address = addressText(0, 1)

describe('asked wrongly', () => {
  const rows = [
    ['for nobody', [], ['ADDRESS is needed']],
    ['for two at once', [address, address], ['one ADDRESS at a time']],
    ['for what is no address', ['x'], ['x is no Bech32 address']],
    ['for nothing', [address, '--amount', '0'], ['--amount must be a whole number above 0']],
    ['without a host', [address, '--url', 'here'], ['--url must be http(s)://HOST[:PORT][/PATH]']],
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
      `ledger-gateway faucet: ${url}: what answers there is no gateway\n`,
    ])
  })

  test('pays nobody on another network', async () => {
    const gateway = await startGateway()
    const foreign = addressText(0, 1, { hrp: 'smr' })
    const { stderr, code } = await runCommand(faucet, [foreign, '--url', gateway.url])
    expect([code, stderr]).toEqual([
      1,
      `ledger-gateway faucet: ${foreign} is an address of another network; this one writes tst1…\n`,
    ])
    const paid = await runCommand(faucet, [addressText(0, 1, { hrp: 'tst' }), '--url', gateway.url])
    expect(paid.stdout).toMatch(/^0x[0-9a-f]{72}\n$/)
    await gateway.close()
  })

  test('says that nobody answers', async () => {
    // The first port of all is nobody's.
    const away = 'http://127.0.0.1:1'
    const { stderr, code } = await runCommand(faucet, [address, '--url', away])
    expect(code).toBe(1)
    expect(stderr).toMatch(
      /^ledger-gateway faucet: http:\/\/127\.0\.0\.1:1: nobody answers there.*; is the gateway running\?\n$/,
    )
  })
})
