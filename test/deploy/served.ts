import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { assert } from '../../src/lib/assert.ts'
import { until } from '../support/until.ts'
import { untilHealth } from '../support/wallet.ts'
import { startInImage } from './container.ts'
import type { Image } from './dockerfile.ts'

/** A gateway in a process that a test started. */
export interface Served {
  /** The base URL on 127.0.0.1, without a trailing slash. */
  readonly url: string
  readonly process: ChildProcess
  /** Resolves with the exit code and signal of the process. */
  readonly ended: Promise<readonly unknown[]>
  /** Returns everything that the process has written. */
  log(): string
}

/** Waits until a process has printed its URL and is healthy. */
export async function untilServed(process: ChildProcess): Promise<Served> {
  const log = collect(process)
  const ended = once(process, 'exit')
  const served = () => {
    assert(process.exitCode === null, `expected a running gateway: ${log()}`)
    const [, port] = /GraphQL\s+http:\/\/\S+:(\d+)\/graphql\n/.exec(log()) ?? []
    return port !== undefined && `http://127.0.0.1:${port}`
  }
  const url = await until(served, { what: 'the gateway serves', deadlineMs: 60_000 })
  await untilHealth(url)
  return { url, process, ended, log }
}

/** Runs the health check of an image against a gateway and returns its exit code. */
export async function healthcheck(image: Image, node: string, url: string): Promise<number> {
  const env = { PORT: new URL(url).port }
  const check = startInImage(image, { words: image.healthcheck, env, node })
  collect(check)
  const [code] = await once(check, 'exit')
  return code
}

/** Collects everything that a process writes. */
export function collect({ stdout, stderr }: ChildProcess): () => string {
  let all = ''
  for (const stream of [stdout, stderr]) {
    stream?.setEncoding('utf8').on('data', (part: string) => {
      all += part
    })
  }
  return () => all
}
