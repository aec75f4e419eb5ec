import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { startGateway, type TestGateway } from './start-gateway.ts'

/** A node that forwards the responses of a real gateway and changes some of them. */

/** A forwarded response. */
export interface PassedAnswer {
  readonly status: number
  readonly body: string | Uint8Array
}

/** Returns the changed response, or `HANG_UP` to destroy the connection. `path` is that of the request, with its query string. */
export type Spoil = (path: string, answer: PassedAnswer) => PassedAnswer | 'HANG_UP'

/** A running node. */
export interface OddNode {
  /** The URL of the root, without a trailing slash. */
  readonly url: string
  /** The paths of all received requests. */
  readonly asked: readonly string[]
  /** Replaces the change that the node makes to responses. */
  spoilBy(spoil: Spoil): void
  close(): Promise<void>
}

/** Changes nothing. */
export const passOn: Spoil = (_path, answer) => answer

/** Starts a node in front of a gateway. */
export async function startOddNode(gatewayUrl: string, first: Spoil): Promise<OddNode> {
  let spoil = first
  const asked: string[] = []
  const server = createServer(async (request, response) => {
    const path = request.url ?? '/'
    asked.push(path)
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const { method = 'GET' } = request
    const headers: Record<string, string> = {}
    for (const name of ['accept', 'content-type']) {
      const value = request.headers[name]
      if (typeof value === 'string') headers[name] = value
    }
    const body = method === 'POST' ? { body: Buffer.concat(chunks) } : {}
    const real = await fetch(gatewayUrl + path, { method, headers, ...body })
    const type = real.headers.get('content-type') ?? ''
    const bytes = new Uint8Array(await real.arrayBuffer())
    const text = type.startsWith('application/json') ? new TextDecoder().decode(bytes) : bytes
    const answer = spoil(path, { status: real.status, body: text })
    if (answer === 'HANG_UP') {
      request.socket.destroy()
      return
    }
    response.writeHead(answer.status, { 'content-type': type })
    response.end(answer.body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    spoilBy: (next) => {
      spoil = next
    },
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Changes the JSON of responses to requests whose path ends with `end`. */
export function changing(
  end: string,
  // biome-ignore lint/suspicious/noExplicitAny: the test knows the shape of the response
  change: (json: any) => unknown,
): Spoil {
  return (path, answer) => {
    if (!path.endsWith(end) || typeof answer.body !== 'string') return answer
    return { ...answer, body: JSON.stringify(change(JSON.parse(answer.body))) }
  }
}

/** Makes several changes, one after the other. */
export function allOf(...spoils: readonly Spoil[]): Spoil {
  return (path, answer) => {
    let passed: PassedAnswer | 'HANG_UP' = answer
    for (const spoil of spoils) if (passed !== 'HANG_UP') passed = spoil(path, passed)
    return passed
  }
}

/** A gateway that follows an odd node. */
export interface Follower {
  readonly gateway: TestGateway
  readonly node: OddNode
}

/** Starts an odd node in front of a real gateway, and a gateway that follows the node. */
export async function startFollower(
  gatewayUrl: string,
  spoil: Spoil,
  env: Record<string, string>,
): Promise<Follower> {
  const node = await startOddNode(gatewayUrl, spoil)
  const gateway = await startGateway({
    env: { LEDGER: 'upstream', UPSTREAM_URLS: node.url, ...env },
  })
  return { gateway, node }
}

/** Closes the gateway and the node. */
export async function endFollower({ gateway, node }: Follower): Promise<void> {
  await gateway.close()
  await node.close()
}
