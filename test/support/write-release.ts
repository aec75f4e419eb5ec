import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import packageJson from '../../package.json' with { type: 'json' }
import { backup } from '../../src/cli/backup.ts'
import { exportCommand } from '../../src/cli/export.ts'
import { present } from '../../src/lib/assert.ts'
import { graphql } from './client.ts'
import { makeFolder, startProgram } from './program.ts'
import { rest, restJson } from './rest.ts'
import { runCommand } from './run-command.ts'
import { addressOf, untilCommitted, untilHealth, user } from './wallet.ts'

/**
 * Writes a small ledger of this build to `test/releases`: a backup of SQLite, an export, which is equal for both databases, and the
 * cursor of a follower. Run once for each release, and never again: `node test/runtime/run.cjs test/support/write-release.ts`.
 */

const releases = fileURLToPath(new URL('../releases', import.meta.url))
const folder = makeFolder()
const env = { DATABASE_URL: folder.databaseUrl, KEY_FILE: `${folder.databaseFile}.key` }
const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url))

const gateway = await startProgram(env)
let follower: Awaited<ReturnType<typeof followerOf>>
try {
  const { url } = gateway
  await untilHealth(url)
  const json = { 'content-type': 'application/json' }
  const post = async (path: string, body: object, headers: Record<string, string> = json) => {
    const answer = await rest(`${url}${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    })
    if (!answer.ok) throw new Error(await answer.text())
  }
  for (let number = 1; number <= 5; number++) {
    await post('/api/core/v3/blocks', { type: 0, tag: `0x0${number}` })
    await post('/api/enqueue?wait=30', {
      address: addressOf(user(number)),
      amount: `${number}000000`,
    })
  }
  const token = execFileSync(process.execPath, [main, 'token', '--scope', 'write'], { env })
  const chain = 'tst1pqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqnrye0m'
  const authorized = { ...json, authorization: `Bearer ${String(token).trim()}` }
  await post(`/v1/chains/${chain}/chainrecord`, { accessNodes: [], isActive: true }, authorized)
  const { status } = await restJson(`${url}/api/core/v3/info`)
  await untilCommitted(url, status.latestAcceptedBlockSlot)
  follower = await followerOf(url, addressOf(user(5)))
} finally {
  await gateway.end('SIGTERM')
}

mkdirSync(releases, { recursive: true })
for (const [command, words, name] of [
  [backup, [`${folder.databaseFile}.backup`], 'backup'],
  [exportCommand, ['--file', `${folder.databaseFile}.export`], 'export'],
] as const) {
  const { code, stderr } = await runCommand(command, words, { env })
  if (code !== 0) throw new Error(stderr)
  const bytes = readFileSync(present(words.at(-1), 'a file'))
  writeFileSync(join(releases, `${packageJson.version}.${name}.gz`), gzipSync(bytes, { level: 9 }))
}
writeFileSync(
  join(releases, `${packageJson.version}.follower.json`),
  `${JSON.stringify(follower, undefined, 2)}\n`,
)
rmSync(folder.databaseFile, { force: true })
folder.remove()

/** A follower of an address that has not received its newest update, with the end time of the gateway in seconds since 1970. */
async function followerOf(url: string, address: string) {
  const { data } = await graphql(
    url,
    'query { ledgerUpdates(first: 100) { nodes { cursor address } } }',
  )
  const { nodes } = data.ledgerUpdates
  const newest = nodes.findIndex((node: { readonly address: string }) => node.address === address)
  const { cursor } = present(nodes[newest + 1], 'the row before it')
  return { address, cursor, stoppedAt: Math.ceil(Date.now() / 1_000) }
}
