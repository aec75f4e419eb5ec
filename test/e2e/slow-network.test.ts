import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { TaggedDataPayload, Utils } from '@iota/sdk-wasm/node/lib/index.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openOlderClient } from '../support/older-client.ts'
import { type Folder, makeFolder, type Program, startProgram } from '../support/program.ts'
import { asList, openSdk } from '../support/sdk.ts'
import { addressOf, getJson, untilHealth, user } from '../support/wallet.ts'

/** Legacy clients behind a line that brings a few bytes at a time, and one that breaks. */

interface Line {
  readonly url: string
  /** The next answer breaks after so many bytes; `undefined` for never. */
  breakAfter: number | undefined
  close(): void
}

/** A line to a gateway, both ways in pieces of at most `size` bytes. */
async function openLine(target: string, size: number): Promise<Line> {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  const server: Server = createServer((near) => {
    const far = connect({ host: hostname, port: Number(port), noDelay: true })
    for (const socket of [near, far]) {
      sockets.add(socket)
      // One side is cut when the other is.
      socket.on('error', () => {})
      socket.on('close', () => [near, far].map((one) => one.destroy()))
    }
    near.setNoDelay(true)
    void trickle(near, far, () => undefined)
    void trickle(far, near, () => line.breakAfter)
  })

  async function trickle(from: Socket, to: Socket, breakAfter: () => number | undefined) {
    let brought = 0
    // A line that is cut ends the loop by throwing, and there is nobody to tell.
    await (async () => {
      for await (const chunk of from) {
        for (let at = 0; at < chunk.length; at += size) {
          to.write(chunk.subarray(at, at + size))
          brought += size
          if (brought > (breakAfter() ?? Number.POSITIVE_INFINITY)) to.destroy()
          await turn()
        }
      }
    })().catch(() => {})
  }

  await once(server.listen(0, '127.0.0.1'), 'listening')
  const line: Line = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    breakAfter: undefined,
    close: () => {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
  return line
}

let folder: Folder
let gateway: Program
let line: Line
beforeAll(async () => {
  folder = makeFolder()
  gateway = await startProgram({ DATABASE_URL: folder.databaseUrl })
  await untilHealth(gateway.url)
  line = await openLine(gateway.url, 7)
})
afterAll(async () => {
  line.close()
  await gateway.end('SIGTERM')
  folder.remove()
})

describe('over a line of seven bytes at a time', () => {
  test('the official client reads, builds, sends and reads back', async () => {
    const sdk = await openSdk(line.url)
    const { block, blockId } = await sdk.block(new TaggedDataPayload('0x736c6f77', '0x01'))
    expect(await sdk.client.postBlock(block)).toBe(blockId)
    expect(await sdk.client.postBlockRaw(asList(Utils.blockBytes(block)))).toBe(blockId)
    expect(await sdk.client.getBlock(blockId)).toEqual(block)
  })

  test('the older client reads pages', async () => {
    const path = `ledger/updates/by-address/${addressOf(user(1))}`
    const page = await openOlderClient(line.url).pluginFetch('explorer/v2/', 'get', path)
    expect(page).toEqual(await getJson(`${gateway.url}/api/explorer/v2/${path}`))
  })
})

describe('a line that breaks in the middle of an answer', () => {
  test.each([1, 150, 700])('after %i bytes is told the client, who asks again', async (bytes) => {
    const path = `ledger/updates/by-address/${addressOf(user(1))}`
    const client = openOlderClient(line.url)
    line.breakAfter = bytes
    await expect(client.pluginFetch('explorer/v2/', 'get', path)).rejects.toThrow()
    line.breakAfter = undefined
    const page = await client.pluginFetch('explorer/v2/', 'get', path)
    expect(page).toEqual(await getJson(`${gateway.url}/api/explorer/v2/${path}`))
    expect(gateway.logged()).not.toContain('request-failed')
  })
})
