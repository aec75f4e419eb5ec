import { fork } from 'node:child_process'
import { once } from 'node:events'
import { present } from '../../src/lib/assert.ts'
import { ownClient } from './from-address.ts'
import { type AttackedGateway, fillLedger, resourcesOf, startAttackedGateway } from './gateway.ts'
import {
  isAnswer,
  keyOf,
  otherRequests,
  type Recorded,
  type RecordedResponse,
} from './other-requests.ts'

/**
 * Starts the control of the measurement: a bare server of `node:http` and `ws` that refuses all requests of the attacker at once
 * (`control-server.ts`). No gateway can serve the other clients better on the same processors.
 */
export async function startControl(): Promise<AttackedGateway> {
  const gateway = await startAttackedGateway()
  await fillLedger(gateway.url)
  const recorded = await record(gateway.url)
  await gateway.end()
  const child = fork(new URL('./control-server.ts', import.meta.url), [])
  child.send(recorded)
  const [port] = await once(child, 'message')
  const pid = present(child.pid, 'its process id')
  const url = `http://127.0.0.1:${port}`
  return {
    ...gateway,
    url,
    pid,
    target: { ...gateway.target, url },
    resources: () => resourcesOf(pid),
    isAlive: () => child.exitCode === null && child.signalCode === null,
    logged: () => '',
    end: async () => {
      child.kill()
      await once(child, 'exit')
    },
  }
}

async function record(url: string): Promise<Recorded> {
  const client = ownClient('127.0.1.1')
  const responses: Record<string, RecordedResponse> = {}
  for (const request of otherRequests) {
    const { path, init = {} } = request
    const response = await client.ask(url + path, init)
    if (!isAnswer(request, response)) throw new Error(`${path}: ${response.text}`)
    const type = String(response.headers['content-type'])
    responses[keyOf(init.method ?? 'GET', path)] = { type, text: response.text }
  }
  client.close()
  const { text: socketPayload } = present(responses[keyOf('POST', '/graphql')], 'a response')
  return { socketPayload, responses }
}
