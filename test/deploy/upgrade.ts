import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createGatewayClient } from '../../src/cli/gateway-client.ts'
import { type FeedEvent, follow } from '../../src/client/follow.ts'
import { assert } from '../../src/lib/assert.ts'
import { install, pack } from '../support/packed.ts'
import { startPostgresql } from '../support/postgresql-server.ts'
import { until } from '../support/until.ts'
import { addressOf, user } from '../support/wallet.ts'
import { collect } from './served.ts'

/**
 * `npm run test:upgrade -- FORMER.tgz`: upgrades from the package of a former release to this checkout, both installed, on one
 * PostgreSQL: side by side if their tables are the same, otherwise one of them does not start (docs/upgrade.md).
 */

const [, , tarball] = process.argv
assert(tarball !== undefined, 'npm run test:upgrade -- FORMER.tgz')
const root = fileURLToPath(new URL('../..', import.meta.url))
const address = addressOf(user(3))
const folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-upgrade-'))
const database = await startPostgresql()
const running = new Set<Running>()
try {
  await install(join(folder, 'former'), resolve(tarball))
  await install(join(folder, 'this'), await pack(folder, root))
  await rollOut()
} finally {
  for (const one of running) await end(one)
  await database.stop()
  rmSync(folder, { recursive: true, force: true })
}

async function rollOut(): Promise<void> {
  const former = await startRelease('former')
  await pay(former)
  const { cursor } = await firstUpdate(former, undefined)
  say('the former release serves, and a follower has a cursor')

  const early = attempt('this')
  if (early.isRefused) {
    assert(early.log.includes('stop every gateway on it'), `expected DATABASE_IN_USE: ${early.log}`)
    say(`this release does not start beside it: ${early.log.trim().split('\n').at(-1)}`)
    await pay(former)
    say('the former release still writes')
  } else {
    say('this release starts beside it, because they have the same tables')
    await pay(former)
  }
  await end(former)

  const next = await startRelease('this')
  const { outputId } = await firstUpdate(next, cursor)
  say(`this release serves; the follower resumes with its cursor and receives ${outputId}`)
  await pay(next)

  const late = attempt('former')
  if (early.isRefused) {
    assert(late.log.includes('newer than this program'), `expected a newer database: ${late.log}`)
    say(`the former release no longer starts: ${late.log.trim().split('\n').at(-1)}`)
  }
  const { stdout, status } = run('this', ['check'])
  assert(
    status === 0 && JSON.parse(stdout).findings.length === 0,
    `expected no findings: ${stdout}`,
  )
  say('check has no findings')
}

type Release = 'former' | 'this'

interface Running {
  readonly child: ChildProcess
  readonly url: string
  readonly ended: Promise<unknown>
}

function wordsOf(release: Release, words: readonly string[]): readonly string[] {
  return [join(folder, release, 'node_modules/ledger-gateway/dist/entry.cjs'), ...words]
}

function optionsOf(release: Release) {
  const settings = { PORT: '0', DRAIN_DELAY: '0', DRAIN_SECONDS: '0', DATABASE_URL: database.url }
  const env = { PATH: process.env.PATH, ...settings }
  return { cwd: join(folder, release), env, encoding: 'utf8' as const }
}

async function startRelease(release: Release): Promise<Running> {
  const child = spawn(process.execPath, wordsOf(release, ['serve']), optionsOf(release))
  const log = collect(child)
  const one = { child, url: '', ended: once(child, 'exit') }
  running.add(one)
  one.url = await until(() => / (http\S+)\/graphql\n/.exec(log())?.[1], { deadlineMs: 60_000 })
  // Responses of the former release may differ from the types of this one.
  const client = createGatewayClient(one.url)
  await until(async () => (await client.health()).isHealthy === true, { deadlineMs: 60_000 })
  await client.close()
  return one
}

async function end(one: Running): Promise<void> {
  one.child.kill('SIGTERM')
  await one.ended
  running.delete(one)
}

function run(release: Release, words: readonly string[]) {
  // A gateway that starts is ended by the timeout.
  return spawnSync(process.execPath, wordsOf(release, words), {
    ...optionsOf(release),
    timeout: 20_000,
  })
}

/** Starts a gateway that may fail to start. */
function attempt(release: Release): { readonly isRefused: boolean; readonly log: string } {
  const { status, stderr } = run(release, ['serve'])
  return { isRefused: status === 1, log: stderr }
}

async function pay({ url }: Running): Promise<void> {
  const client = createGatewayClient(url)
  await client.post('/api/enqueue?wait=30', { address })
  await client.close()
}

/** Returns the first update after a cursor, or the first of the log. */
async function firstUpdate({ url }: Running, after: string | undefined) {
  const from = after === undefined ? { afterMilestone: 0 } : { after }
  for await (const event of follow({ url, addresses: [address], ...from })) {
    assert(isFeedEvent(event), `expected an open feed: ${JSON.stringify(event)}`)
    const [update] = event.__typename === 'LedgerUpdateBatch' ? event.updates : []
    if (update !== undefined) return update
  }
  throw new Error('the feed ended')
}

function isFeedEvent(event: { readonly __typename: string }): event is FeedEvent {
  return event.__typename !== 'FeedReset' && event.__typename !== 'FeedEnded'
}

function say(text: string): void {
  console.log(text)
}
