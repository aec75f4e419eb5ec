import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { StopSignal } from '../../src/cli/command.ts'
import { faucet } from '../../src/cli/faucet.ts'
import { status } from '../../src/cli/status.ts'
import { submit } from '../../src/cli/submit.ts'
import { addressText } from '../support/chain-ids.ts'
import { runCommand } from '../support/run-command.ts'

/** The commands that use a running gateway, at a server that is not one, refuses, or does not respond. */

let folder: string
let server: Server
const payload = () => join(folder, 'payload.json')
const block = () => join(folder, 'block')
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'other-servers-'))
  writeFileSync(payload(), '{"type":0,"tag":"0x01"}')
  writeFileSync(block(), '0x00')
})
afterAll(() => rmSync(folder, { recursive: true }))
afterEach(() => {
  server.closeAllConnections()
  server.close()
})

async function serve(respond: RequestListener): Promise<string> {
  server = createServer(respond).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const calls = [
  ['status', status, (url: string) => [url]],
  ['faucet', faucet, (url: string) => [addressText(0, 1), '--url', url]],
  ['submit with a payload', submit, (url: string) => [payload(), '--url', url]],
  ['submit with a block', submit, (url: string) => [block(), '--url', url]],
] as const

describe.each(calls)('%s', (_name, command, words) => {
  test.each(['{}', '[]', 'null', '"text"', '<html>'])(
    'reports that a server with the response %s is not a gateway',
    async (body) => {
      const url = await serve((_request, response) => response.end(body))
      const { code, stdout, stderr } = await runCommand(command, words(url))
      expect([code, stdout]).toEqual([1, ''])
      expect(stderr).toMatch(/^ledger-gateway \w+: (?:http\S+: )?the server is not a gateway\n$/)
    },
  )

  test('reports why an overloaded gateway refuses', async () => {
    const message = 'this gateway is overloaded; try again later'
    const url = await serve((_request, response) => {
      response.writeHead(503).end(JSON.stringify({ error: { code: 503, message } }))
    })
    const { code, stdout, stderr } = await runCommand(command, words(url))
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toContain(message)
  })

  test('ends at the first signal while the server does not respond', async () => {
    let stop = () => {}
    const stopped = new Promise<StopSignal>((resolve) => {
      stop = () => resolve('SIGINT')
    })
    const url = await serve(() => stop())
    const closed = new Promise<void>((resolve) => {
      server.once('connection', (socket) => socket.once('close', () => resolve()))
    })
    const { code, stdout, stderr } = await runCommand(command, words(url), { stopped })
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(/^ledger-gateway \w+: (?:http\S+: )?interrupted\n$/)
    // An open request would keep the process alive.
    await closed
  })
})
