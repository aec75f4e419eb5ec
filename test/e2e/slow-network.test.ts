import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { TaggedDataPayload, Utils } from '@iota/sdk-wasm/node/lib/index.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openOlderClient } from '../support/older-client.ts'
import { type Folder, makeFolder, type Program, startProgram } from '../support/program.ts'
import { restJson } from '../support/rest.ts'
import { asList, openSdk } from '../support/sdk.ts'
import { addressOf, untilHealth, user } from '../support/wallet.ts'

/** Legacy clients on a connection that delivers a few bytes at a time, and on one that is lost. */

interface SlowProxy {
  readonly url: string
  /** Number of bytes after which the connection of the next response is closed; `undefined` for never. */
  breakAfter: number | undefined
  close(): void
}

/** Opens a proxy to a gateway that forwards in both directions in pieces of at most `size` bytes. */
async function openSlowProxy(target: string, size: number): Promise<SlowProxy> {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  const server: Server = createServer((near) => {
    const far = connect({ host: hostname, port: Number(port), noDelay: true })
    for (const socket of [near, far]) {
      sockets.add(socket)
      // If one side is closed, the other is closed too.
      socket.on('error', () => {})
      socket.on('close', () => [near, far].map((one) => one.destroy()))
    }
    near.setNoDelay(true)
    void trickle(near, far, () => undefined)
    void trickle(far, near, () => proxy.breakAfter)
  })

  async function trickle(from: Socket, to: Socket, breakAfter: () => number | undefined) {
    let forwarded = 0
    // A closed socket ends the loop with an exception, which is expected.
    await (async () => {
      for await (const chunk of from) {
        for (let at = 0; at < chunk.length; at += size) {
          to.write(chunk.subarray(at, at + size))
          forwarded += size
          if (forwarded > (breakAfter() ?? Number.POSITIVE_INFINITY)) to.destroy()
          await turn()
        }
      }
    })().catch(() => {})
  }

  await once(server.listen(0, '127.0.0.1'), 'listening')
  const proxy: SlowProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    breakAfter: undefined,
    close: () => {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
  return proxy
}

let folder: Folder
let gateway: Program
let proxy: SlowProxy
beforeAll(async () => {
  folder = makeFolder()
  gateway = await startProgram({ DATABASE_URL: folder.databaseUrl })
  await untilHealth(gateway.url)
  proxy = await openSlowProxy(gateway.url, 7)
})
afterAll(async () => {
  proxy.close()
  await gateway.end('SIGTERM')
  folder.remove()
})

describe('over a connection that delivers seven bytes at a time', () => {
  test('the official client builds, sends and reads a block', async () => {
    const sdk = await openSdk(proxy.url)
    const { block, blockId } = await sdk.block(new TaggedDataPayload('0x736c6f77', '0x01'))
    expect(await sdk.client.postBlock(block)).toBe(blockId)
    expect(await sdk.client.postBlockRaw(asList(Utils.blockBytes(block)))).toBe(blockId)
    expect(await sdk.client.getBlock(blockId)).toEqual(block)
  })

  test('the older client reads pages', async () => {
    const path = `ledger/updates/by-address/${addressOf(user(1))}`
    const page = await openOlderClient(proxy.url).pluginFetch('explorer/v2/', 'get', path)
    expect(page).toEqual(await restJson(`${gateway.url}/api/explorer/v2/${path}`))
  })
})

describe('a connection that is lost during a response', () => {
  test.each([1, 150, 700])(
    'after %i bytes is an error for the client, whose retry succeeds',
    async (bytes) => {
      const path = `ledger/updates/by-address/${addressOf(user(1))}`
      const client = openOlderClient(proxy.url)
      proxy.breakAfter = bytes
      await expect(client.pluginFetch('explorer/v2/', 'get', path)).rejects.toThrow()
      proxy.breakAfter = undefined
      const page = await client.pluginFetch('explorer/v2/', 'get', path)
      expect(page).toEqual(await restJson(`${gateway.url}/api/explorer/v2/${path}`))
      expect(gateway.logged()).not.toContain('request-failed')
    },
  )
})
