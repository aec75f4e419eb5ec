import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startMessage, tryOpenGateway } from '../../../src/cli/run-gateway.ts'
import { configMessage, parseConfig } from '../../../src/config.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { developmentGenesis, developmentKeys } from '../../../src/node/embedded/development.ts'
import { Output } from '../../../src/protocol/outputs.ts'
import { ProtocolParameters } from '../../../src/protocol/parameters.ts'
import { print } from '../../../src/protocol/schema/schema.ts'
import { graphql } from '../../support/client.ts'
import { changing, passOn, type Spoil, startOddNode } from '../../support/odd-node.ts'
import { type Folder, makeFolder, spawnProgram } from '../../support/program.ts'
import { restJson } from '../../support/rest.ts'
import { startGateway, type TestGateway } from '../../support/start-gateway.ts'
import { until } from '../../support/until.ts'
import { untilCommitted } from '../../support/wallet.ts'

/** Tests how a gateway starts in upstream mode, and what it rejects with one sentence and without a write. */

let real: TestGateway
let folder: Folder
beforeAll(async () => {
  real = await startGateway()
  folder = makeFolder()
})
afterAll(async () => {
  await real.close()
  folder.remove()
})

/** Starts a gateway and returns the sentence with which the program would end. A process takes seconds to start on a busy machine. */
async function refusal(env: Record<string, string>): Promise<string> {
  const config = parseConfig({ PORT: '0', KEY_FILE: `${folder.databaseFile}.key`, ...env }, [])
  if (!config.ok) expect.fail(config.error.map(configMessage).join())
  const gateway = await tryOpenGateway(config.value, { clock: systemClock, log: silentLog })
  if (!gateway.ok) return startMessage(gateway.error)
  await gateway.value.close()
  return expect.fail('it started')
}

/** Starts a gateway on a database and closes it. */
async function serveOnce(env: Record<string, string>): Promise<void> {
  await (await startGateway({ env })).close()
}

const newDatabase = (name: string) => `file:${folder.databaseFile.replace('test.db', name)}`

describe('a new database', () => {
  test('is not initialized without a node', async () => {
    const env = { LEDGER: 'upstream', UPSTREAM_URLS: 'http://127.0.0.1:9' }
    expect(await refusal({ ...env, DATABASE_URL: newDatabase('nobody.db') })).toContain(
      'none of the URLs in UPSTREAM_URLS answers like a node',
    )
  })

  test('is not initialized after the signal to stop, although the node is silent', async () => {
    const silent = createServer()
    silent.listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const { port } = silent.address() as AddressInfo
    const spawned = spawnProgram({
      DATABASE_URL: newDatabase('silent.db'),
      LEDGER: 'upstream',
      UPSTREAM_URLS: `http://127.0.0.1:${port}`,
    })
    const ended = once(spawned.process, 'exit')
    const [socket] = await once(silent, 'connection')
    const closed = once(socket.resume(), 'close')
    spawned.process.kill('SIGTERM')
    await closed
    expect(await ended).toEqual([1, null])
    await spawned.ready.catch(() => {})
    expect(spawned.logged()).toContain(
      'the start was interrupted before the ledger was initialized',
    )
    silent.close()
  })

  test('is not initialized from a genesis that does not lead to the first commitment', async () => {
    const spoil = changing('/by-slot/0', (one) => ({ ...one, referenceManaCost: '7' }))
    expect(await refusalWithNode(spoil, 'differs.db')).toContain(
      'does not lead to the first commit',
    )
  })

  /** Spoils responses like a node of IOTA, which has no changes of the genesis slot because it took them from a snapshot. */
  const snapshotted: Spoil = (path, answer) =>
    path.endsWith('/by-slot/0/utxo-changes/full') ? { status: 500, body: '{}' } : answer

  test('needs a file if the node does not return the genesis', async () => {
    expect(await refusalWithNode(snapshotted, 'untold.db')).toContain('--genesis-file')
    const info = await restJson(`${real.url}/api/core/v3/info`)
    const { parameters } = info.protocolParameters[0]
    const plan = developmentGenesis(developmentKeys(), Number(parameters.genesisUnixTimestamp))
    const file = folder.databaseFile.replace('test.db', 'genesis.json')
    writeFileSync(file, genesisText(plan))
    const node = await startOddNode(real.url, snapshotted)
    const gateway = await startGateway({
      env: { LEDGER: 'upstream', UPSTREAM_URLS: node.url, GENESIS_FILE: file },
    })
    await untilCommitted(gateway.url, 1)
    await gateway.close()
    await node.close()
  })

  async function refusalWithNode(spoil: Spoil, name: string): Promise<string> {
    const node = await startOddNode(real.url, spoil)
    const env = { LEDGER: 'upstream', UPSTREAM_URLS: node.url }
    const message = await refusal({ ...env, DATABASE_URL: newDatabase(name) })
    await node.close()
    return message
  }
})

test('the embedded ledger follows no node', async () => {
  const { data } = await graphql(real.url, '{ health { isHealthy following { state } } }')
  expect(data.health.following).toBeNull()
})

describe('a database', () => {
  test('that follows nodes is not opened by the embedded ledger, nor the reverse', async () => {
    const followed = { DATABASE_URL: newDatabase('followed.db') }
    const upstream = { LEDGER: 'upstream', UPSTREAM_URLS: real.url }
    await serveOnce({ ...followed, ...upstream })
    expect(await refusal(followed)).toContain('LEDGER=upstream')
    const kept = { DATABASE_URL: newDatabase('kept.db') }
    await serveOnce(kept)
    expect(await refusal({ ...kept, ...upstream })).toContain('LEDGER=embedded')
  })

  test('of another network is rejected with the names of both networks', async () => {
    const upstream = { LEDGER: 'upstream', DATABASE_URL: newDatabase('other.db') }
    await serveOnce({ ...upstream, UPSTREAM_URLS: real.url })
    const node = await startOddNode(real.url, renamed)
    expect(await refusal({ ...upstream, UPSTREAM_URLS: node.url })).toContain(
      'the database holds the network "ledger-gateway-dev", not "another"',
    )
    await node.close()
  })

  test('is served while no node is available, and a node of another network is not followed', async () => {
    const env = { LEDGER: 'upstream', DATABASE_URL: newDatabase('away.db') }
    await serveOnce({ ...env, UPSTREAM_URLS: real.url })
    const other = await startOddNode(real.url, passOn)
    const urls = ['http://127.0.0.1:9', other.url].join(',')
    other.spoilBy(() => 'HANG_UP')
    const gateway = await startGateway({ env: { ...env, UPSTREAM_URLS: urls } })
    expect((await fetch(`${gateway.url}/health`)).status).toBe(503)
    const before = (await restJson(`${gateway.url}/api/gateway/v1/log`)).milestoneIndex
    other.spoilBy(renamed)
    await until(() => gateway.logged.some((line) => line.includes('another network')))
    expect((await restJson(`${gateway.url}/api/gateway/v1/log`)).milestoneIndex).toBe(before)
    other.spoilBy(passOn)
    await untilCommitted(gateway.url, before + 1)
    await gateway.close()
    await other.close()
  })
})

const renamed = changing('/core/v3/info', (info) => {
  const [first] = info.protocolParameters
  const parameters = { ...first.parameters, networkName: 'another' }
  return { ...info, protocolParameters: [{ ...first, parameters }] }
})

function genesisText(plan: ReturnType<typeof developmentGenesis>): string {
  const parameters = print(ProtocolParameters, plan.parameters)
  const outputs = plan.outputs.map((output) => print(Output, output))
  return JSON.stringify({ parameters, outputs })
}
