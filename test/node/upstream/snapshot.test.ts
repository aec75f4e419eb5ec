import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { check } from '../../../src/cli/check.ts'
import { snapshot } from '../../../src/cli/snapshot.ts'
import type { Environment } from '../../../src/config.ts'
import { present } from '../../../src/lib/assert.ts'
import { slotsBeforeStart } from '../../../src/node/embedded/development.ts'
import type { Output } from '../../../src/protocol/outputs.ts'
import type { NftId } from '../../../src/protocol/primitives.ts'
import { graphql, socketClient } from '../../support/client.ts'
import { databases, onDatabase, openedStore, type TestDatabase } from '../../support/databases.ts'
import { writeGenesis } from '../../support/genesis-gateway.ts'
import { fundFromFaucet, startWorld, worldParameters } from '../../support/ledger-world.ts'
import { type LogTables, logTables } from '../../support/log-tables.ts'
import { changing, type Spoil, startOddNode } from '../../support/odd-node.ts'
import { rest, restJson } from '../../support/rest.ts'
import { runCommand } from '../../support/run-command.ts'
import { startGateway, type TestGateway } from '../../support/start-gateway.ts'
import { until } from '../../support/until.ts'
import {
  addressOf,
  blockOf,
  genesisOutputs as genesisOutputsOf,
  offerOf,
  ownedBy,
  paymentOf,
  postBytes,
  slotNow,
  untilCommitted,
  untilHealth,
  user,
} from '../../support/wallet.ts'

/** Compares a follower that begins with a snapshot of a gateway with one that begins at the genesis. */

/** Outputs of user 1, and an NFT of user 3. The two expiring outputs pass to another owner: one before the snapshot, one after it. */
const genesisOutputs: readonly Output[] = [
  ...Array.from({ length: 5 }, () => ownedBy(user(1), 1_000_000n)),
  expiring(slotsBeforeStart + 1),
  expiring(slotsBeforeStart + 40),
  timelocked(slotsBeforeStart + 40),
  {
    type: 4,
    amount: 1_000_000n,
    mana: 0n,
    nftId: `0x${'11'.repeat(32)}` as NftId,
    unlockConditions: ownedBy(user(3), 1n).unlockConditions,
    features: [],
    immutableFeatures: [],
  },
]

function expiring(slot: number): Output {
  const { unlockConditions, ...rest } = ownedBy(user(1), 1_000_000n)
  const returnAddress = { type: 0, pubKeyHash: user(2).publicKeyHash } as const
  return { ...rest, unlockConditions: [...unlockConditions, { type: 3, returnAddress, slot }] }
}

function timelocked(slot: number): Output {
  const { unlockConditions, ...rest } = ownedBy(user(1), 1_000_000n)
  return { ...rest, unlockConditions: [...unlockConditions, { type: 2, slot }] }
}

async function pay(node: TestGateway): Promise<void> {
  const offer = await offerOf(node.url)
  const path = `${node.url}/api/indexer/v2/outputs/basic?address=${addressOf(user(1))}&hasExpiration=false&hasTimelock=false`
  const [spend] = (await restJson(path)).items
  const outputs = [ownedBy(user(2), 400_000n), ownedBy(user(1), 600_000n)]
  const creationSlot = slotNow(offer.network)
  const payment = paymentOf(offer.network, { spend, key: user(1), outputs, creationSlot })
  const posted = await postBytes(node.url, blockOf(offer, payment.payload).bytes)
  expect(posted.status).toBe(201)
  await untilCommitted(node.url, slotNow(offer.network))
}

async function snapshotOf(url: string): Promise<string[]> {
  const answer = await rest(`${url}/api/gateway/v1/snapshot`)
  return (await answer.text()).trimEnd().split('\n')
}

describe.each(databases)('on $name', ({ create }) => {
  let created: TestDatabase[]
  let genesis: ReturnType<typeof writeGenesis>
  let node: TestGateway
  let whole: TestGateway
  let folder: string

  beforeAll(async () => {
    created = []
    folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-snapshot-'))
    genesis = writeGenesis(genesisOutputs)
    node = await startGateway({
      env: { GENESIS_FILE: genesis.path, DATABASE_URL: await database() },
    })
    whole = await startGateway({ env: await behind(node.url) })
    await pay(node)
  })
  afterAll(async () => {
    await whole.close()
    await node.close()
    for (const one of created) await one.remove()
    genesis.remove()
    rmSync(folder, { recursive: true })
  })

  async function database(): Promise<string> {
    const one = await create()
    created.push(one)
    return one.url
  }

  async function behind(url: string) {
    return { LEDGER: 'upstream', UPSTREAM_URLS: url, DATABASE_URL: await database() }
  }

  async function fileOf(name: string, lines: readonly string[]): Promise<string> {
    const path = join(folder, name)
    writeFileSync(path, lines.map((line) => `${line}\n`).join(''))
    return path
  }

  /** Checks that both followers have the same log after the slot of the snapshot, and the same unspent outputs. */
  async function expectSame(begun: TestGateway): Promise<void> {
    const { prunedSeq } = await restJson(`${begun.url}/api/gateway/v1/log`)
    expect(prunedSeq).toBeGreaterThan(0)
    const { milestoneIndex } = await restJson(`${node.url}/api/gateway/v1/log`)
    await Promise.all([whole, begun].map(({ url }) => untilCommitted(url, milestoneIndex)))
    // Expirations move balances too, in a slot that one of them may have before the other.
    let pair: readonly unknown[] = []
    const isSame = async () => {
      const [one, other] = await Promise.all(
        [whole, begun].map(({ databaseUrl }) => logTables(databaseUrl, 2 ** 31)),
      )
      pair = [comparable(one, prunedSeq), comparable(other, prunedSeq)]
      return isDeepStrictEqual(pair[0], pair[1])
    }
    await until(isSame).catch(() => {})
    expect(pair[1]).toEqual(pair[0])
  }

  /** Returns what both followers have: the log after a position, and all unspent outputs. */
  function comparable(tables: LogTables | undefined, after: number) {
    if (tables === undefined) return undefined
    const { ledger_updates: rows, unspent_outputs, balances, token_balances, network } = tables
    const unspent = new Set(unspent_outputs.map((row) => row.split(' ')[0]))
    const log = rows.filter((row) => Number(row.split(' ')[0]) > after)
    const states = tables.chain_states.filter((row) => unspent.has(row.split(' ')[4]))
    return { log, states, unspent_outputs, balances, token_balances, network }
  }

  test('a follower resumes after a lost connection, has the same data from there on, and rejects older cursors as expired', async () => {
    const requested: string[] = []
    // The node sends one whole line at a time, and the beginning of the next one.
    const halved: Spoil = (path, answer) => {
      requested.push(path)
      if (typeof answer.body === 'string') return answer
      const text = new TextDecoder().decode(answer.body)
      return { ...answer, body: text.slice(0, text.indexOf('\n') + 10) }
    }
    const cutting = await startOddNode(node.url, halved)
    const env = { ...(await behind(node.url)), SNAPSHOT: cutting.url }
    const begun = await startGateway({ env })
    const places = requested.map((path) => path.split('%3A').slice(1, 2).join())
    expect(places).toEqual(['', 'outputs', 'outputs', 'accounts', 'tips'])
    await pay(node)
    await expectSame(begun)
    const { seq, prunedSeq } = await restJson(`${begun.url}/api/gateway/v1/log`)
    expect(seq).toBeGreaterThan(prunedSeq)
    const query = 'ledgerUpdates(sort: OLDEST, first: 1'
    const first = await graphql(whole.url, `{ ${query}) { edges { cursor } } }`)
    const [{ cursor }] = first.data.ledgerUpdates.edges
    const after = (place: string) =>
      graphql(begun.url, `{ ${query}, after: "${place}") { edges { cursor } } }`)
    const extensions = (await after(cursor)).errors?.[0]?.extensions
    expect(extensions?.code).toBe('CURSOR_EXPIRED')
    const again = await after(String(extensions?.oldestCursor))
    expect(again.data.ledgerUpdates.edges).toHaveLength(1)
    for (const owner of [1, 2, 3]) {
      const path = `/api/explorer/v2/balance/${addressOf(user(owner))}`
      const [one, other] = await Promise.all([whole, begun].map(({ url }) => restJson(url + path)))
      expect(other.totalBalance).toBe(one.totalBalance)
    }
    // A snapshot has only the last state of a chain.
    await onDatabase(begun.databaseUrl, 'UPDATE chain_states SET ordinal = ordinal + 1')
    const { stdout } = await runCommand(check, [], { env: { DATABASE_URL: begun.databaseUrl } })
    expect(JSON.parse(stdout).findings).toEqual([])
    await begun.close()
    await cutting.close()
  })

  test('a follower does not know the holdings and the milestones of most slots before the snapshot', async () => {
    const begun = await startGateway({ env: { ...(await behind(node.url)), SNAPSHOT: node.url } })
    // The snapshot has the commitment of the genesis, which holds the last row of the log, and those of the last slots.
    const slot = 1
    const { data, errors } = await graphql(
      begun.url,
      `{ milestone(index: ${slot}) { index } search(text: "${slot}") { reason message }
        address(address: "${addressOf(user(3))}") { asOf(milestoneIndex: ${slot}) { balance { total } } } }`,
    )
    expect(data.milestone).toBeNull()
    expect(data.search).toEqual({
      reason: 'UNKNOWN',
      message: 'milestone 1 is not stored, because the ledger began with a later snapshot',
    })
    expect(data.address.asOf).toBeNull()
    expect(errors?.map(({ extensions }) => extensions)).toEqual([
      { code: 'UPDATES_NOT_KEPT', slot },
    ])
    await begun.close()
  })

  test('a follower does not skip the milestones before the snapshot in a subscription (16)', async () => {
    const begun = await startGateway({ env: { ...(await behind(node.url)), SNAPSHOT: node.url } })
    const query = '{ milestones(sort: OLDEST, first: 3) { nodes { index previous { index } } } }'
    const { data } = await graphql(begun.url, query)
    const nodes: readonly { index: number; previous: object | null }[] = data.milestones.nodes
    const afterGap = nodes.find(({ index, previous }) => index > 0 && previous === null)
    const { index } = present(afterGap, 'a milestone whose predecessor is not kept')
    const client = socketClient(begun.url)
    const firstAfter = async (after: number) => {
      const subscription = `subscription { milestones(after: ${after}) { index } }`
      for await (const result of client.iterate({ query: subscription })) return result
      return undefined
    }
    for (const after of [0, index - 2]) {
      expect((await firstAfter(after))?.errors?.map(({ extensions }) => extensions)).toEqual([
        { code: 'UPDATES_NOT_KEPT', slot: after + 1 },
      ])
    }
    expect(await firstAfter(index - 1)).toEqual({ data: { milestones: { index } } })
    await client.dispose()
    await begun.close()
  })

  test('a follower resumes after a restart', async () => {
    const lines = await snapshotOf(node.url)
    const env = await behind(node.url)
    const begin = (path?: string) =>
      startGateway({ env: path === undefined ? env : { ...env, SNAPSHOT: path } })
    const part = await fileOf('part', lines.slice(0, 3))
    await expect(begin(part)).rejects.toThrow('SNAPSHOT_ENDED_EARLY')
    await expect(begin()).rejects.toThrow('SNAPSHOT_UNFINISHED')
    const deps = { stopping: AbortSignal.abort() }
    await expect(startGateway({ env: { ...env, SNAPSHOT: part }, deps })).rejects.toThrow(
      'SNAPSHOT_INTERRUPTED',
    )
    const begun = await begin(await fileOf('whole', lines))
    expect(begun.logged.join()).toContain('snapshot-resumed')
    await expectSame(begun)
    await begun.close()
  })

  test('a follower keeps what it has received if the nodes do not have the commitment in the end', async () => {
    const lines = await snapshotOf(node.url)
    const { slot } = JSON.parse(lines[0] ?? '')[1]
    let asked = 0
    const lagging = await startOddNode(node.url, (path, answer) => {
      if (!path.endsWith(`/by-slot/${slot}`) || ++asked === 1) return answer
      return { status: 404, body: '{"error":{"code":"404"}}' }
    })
    const env = { ...(await behind(node.url)), SNAPSHOT: await fileOf('kept', lines) }
    await expect(startGateway({ env: { ...env, UPSTREAM_URLS: lagging.url } })).rejects.toThrow(
      'SNAPSHOT_COMMITMENT_DIFFERS',
    )
    const begun = await startGateway({ env })
    expect(begun.logged.join()).toContain('snapshot-resumed')
    await expectSame(begun)
    await begun.close()
    await lagging.close()
  })

  test('a follower that waits for another process on its database stops when it has to', async () => {
    const env = await behind(node.url)
    const store = await openedStore(env.DATABASE_URL)
    await store.write.takeLease({ holder: 'another process', ttlMs: 3_600_000 })
    const stopping = new AbortController()
    const starting = startGateway({
      env: { ...env, SNAPSHOT: node.url },
      deps: { stopping: stopping.signal },
    })
    stopping.abort()
    await expect(starting).rejects.toThrow('SNAPSHOT_INTERRUPTED')
    await store.close()
  })

  test('an unproved snapshot is rejected with a named error, and nothing is stored', async () => {
    const lines = await snapshotOf(node.url)
    const env = await behind(node.url)
    const begin = (path: string) => startGateway({ env: { ...env, SNAPSHOT: path } })
    const [, outputs = ''] = lines
    const damaged = lines.with(1, outputs.replace(/0x../, '0x00'))
    await expect(begin(await fileOf('damaged', damaged))).rejects.toThrow(
      '"code":"SNAPSHOT_DAMAGED","line":2',
    )
    const forged = await fileOf('forged', rechecked(lines, renameLast))
    await expect(begin(forged)).rejects.toThrow('SNAPSHOT_OUTPUT_UNPROVED')
    await expect(
      startGateway({ env: { ...env, UPSTREAM_PROOFS: 'off', SNAPSHOT: forged } }),
    ).rejects.toThrow('"code":"SNAPSHOT_ROOT_DIFFERS","root":"STATE"')
    const { slot } = JSON.parse(lines[0] ?? '')[1]
    const other = await startOddNode(
      node.url,
      changing(`/by-slot/${slot}`, (one) => ({ ...one, referenceManaCost: '7' })),
    )
    const path = await fileOf('right', lines)
    await expect(
      startGateway({ env: { ...env, UPSTREAM_URLS: other.url, SNAPSHOT: path } }),
    ).rejects.toThrow('SNAPSHOT_COMMITMENT_DIFFERS')
    await other.close()
    await (await begin(path)).close()
  })

  test('a file of the snapshot command is proved by itself, and a changed one is not', async () => {
    const path = join(folder, 'written')
    const env = { DATABASE_URL: node.databaseUrl }
    const stopped = Promise.resolve('SIGTERM' as const)
    expect(await runCommand(snapshot, ['write', path], { env, stopped })).toMatchObject({
      code: 1,
      stderr: 'ledger-gateway snapshot: interrupted; no snapshot was written\n',
    })
    expect(readdirSync(folder).filter((name) => name.startsWith('written'))).toEqual([])
    expect(await run(['write', path], env)).toMatchObject({ code: 0 })
    expect(await run(['check', path], env)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/"slot":\d+,.*"outputs":1\d,"accounts":1,"tips":5\}\n$/),
    })
    expect(await runCommand(snapshot, ['check', path], { env, stopped })).toMatchObject({
      code: 1,
      stderr: 'ledger-gateway snapshot: interrupted\n',
    })
    const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
    const damagedFiles: readonly (readonly [string, readonly string[]])[] = [
      ['SNAPSHOT_MALFORMED: line 1 ', ['{}']],
      ['SNAPSHOT_ENDED_EARLY: ', lines.slice(0, -1)],
      [
        'SNAPSHOT_DAMAGED: the checksum of line 4 ',
        lines.with(3, lines[3]?.replace('"0x0', '"0x1') ?? ''),
      ],
      ['SNAPSHOT_ROOT_DIFFERS: the roots id', rechecked(lines, (part) => part.roots?.reverse())],
      ['SNAPSHOT_ROOT_DIFFERS: the account root', rechecked(lines, (part) => creditAccounts(part))],
      ['SNAPSHOT_ROWS_WRONG: line 2 ', rechecked(lines, (part) => part.outputs?.reverse())],
      ['SNAPSHOT_OUTPUT_UNPROVED: ', rechecked(lines, enrich)],
      ['SNAPSHOT_SUPPLY_DIFFERS: ', rechecked(lines, (part) => part.outputs?.pop())],
    ]
    for (const [message, changed] of damagedFiles) {
      const { code, stderr } = await run(['check', await fileOf('changed', changed)], env)
      expect([code, stderr]).toEqual([1, expect.stringContaining(message)])
    }
    expect(await run(['write', path], env)).toMatchObject({
      code: 1,
      stderr: `ledger-gateway snapshot: ${path} already exists\n`,
    })
    const followed = await run(['write', join(folder, 'other')], {
      DATABASE_URL: whole.databaseUrl,
    })
    expect(followed).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('holds no embedded ledger'),
    })
  })

  test('the snapshot route reports why it cannot continue at a position', async () => {
    const responseOf = async (url: string, from: string) => {
      const answer = await rest(`${url}/api/gateway/v1/snapshot${from}`)
      return [answer.status, (await answer.json()).error.message]
    }
    const check = '0'.repeat(64)
    expect(await responseOf(whole.url, '')).toEqual([
      501,
      expect.stringContaining('entries of accounts'),
    ])
    expect(await responseOf(node.url, '?from=here')).toEqual([
      400,
      'from: not a cursor from a response to the same kind of request',
    ])
    expect(await responseOf(node.url, `?from=4000000000:tips:0x:${check}`)).toEqual([
      410,
      expect.stringContaining('slot 4000000000 is no longer available'),
    ])
  })
})

test('a follower knows the transaction of the genesis after the first of its outputs was spent', async () => {
  const node = await startGateway()
  await untilHealth(node.url)
  const [output = ''] = await genesisOutputsOf(node.url, user(1))
  const query = `{ transaction(id: "${output.slice(0, 74)}") { state outputs { outputId isSpent } } }`
  const request = `mutation { requestFromFaucet(address: "${addressOf(user(1))}") { transactionId } }`
  expect((await graphql(node.url, request)).errors).toBeUndefined()
  await until(async () => (await graphql(node.url, query)).data.transaction.outputs[0].isSpent)
  await untilCommitted(node.url, slotNow((await offerOf(node.url)).network))
  const known = await graphql(node.url, query)
  const begun = await startGateway({
    env: { LEDGER: 'upstream', UPSTREAM_URLS: node.url, SNAPSHOT: node.url },
  })
  const { data, errors } = await graphql(begun.url, query)
  expect(errors).toBeUndefined()
  const outputs = known.data.transaction.outputs.slice(1)
  expect(data.transaction).toEqual({ state: 'FINALIZED', outputs })
  await begun.close()
  await node.close()
})

test('a follower does not know the updates of a transaction whose milestone the snapshot does not contain', async () => {
  const world = await startWorld()
  const outputs = [ownedBy(user(1), 1_000_000n)]
  await fundFromFaucet(world, [...outputs, ...outputs])
  const { outputId: spend } = present(world.outputs[0], 'a paid output')
  const id = spend.slice(0, 74)
  await world.pass(1)
  // The snapshot contains the milestone of the last row of the log.
  const moment = await world.moment()
  const { network } = moment.offer
  const payment = { spend, key: user(1), outputs, creationSlot: moment.slot }
  await world.submit(moment, paymentOf(network, payment).payload)
  await world.pass(3 * worldParameters.maxCommittableAge)
  const { url } = world.gateway
  const begun = await startGateway({
    env: { LEDGER: 'upstream', UPSTREAM_URLS: url, SNAPSHOT: url },
  })
  const query = `{ transaction(id: "${id}") { slot milestone { index } updates { nodes { seq } } } }`
  const { data, errors } = await graphql(begun.url, query)
  const { slot, ...others } = data.transaction
  expect(others).toEqual({ milestone: null, updates: null })
  expect(errors?.map(({ extensions }) => extensions)).toEqual([{ code: 'UPDATES_NOT_KEPT', slot }])
  await begun.close()
  await world.close()
})

function run(words: readonly string[], env: Environment) {
  return runCommand(snapshot, words, { env })
}

// biome-ignore lint/suspicious/noExplicitAny: the test knows the form of the parts
type AnyPart = any

/** Returns the lines with changed parts and matching checksums. */
function rechecked(lines: readonly string[], change: (part: AnyPart) => unknown): string[] {
  let check = '0'.repeat(64)
  return lines.map((line) => {
    const [, part] = JSON.parse(line)
    change(part)
    const text = JSON.stringify(part)
    check = createHash('sha256')
      .update(check + text)
      .digest('hex')
    return `["${check}",${text}]`
  })
}

/** Changes the id of the last output. */
function renameLast({ outputs }: AnyPart): void {
  outputs?.splice(-1, 1, [`0x${'ff'.repeat(38)}`, ...outputs.at(-1).slice(1)])
}

/** Adds one base token to the first output. */
function enrich({ outputs }: AnyPart): void {
  if (outputs === undefined) return
  const [, , , bytes] = outputs[0]
  const amount = Buffer.alloc(8)
  amount.writeBigUInt64LE(Buffer.from(bytes.slice(4, 20), 'hex').readBigUInt64LE() + 1n)
  outputs[0][3] = `${bytes.slice(0, 4)}${amount.toString('hex')}${bytes.slice(20)}`
}

/** Changes the credits of the first account. */
function creditAccounts({ accounts }: AnyPart): void {
  if (accounts !== undefined) accounts[0] = `${accounts[0].slice(0, 66)}ff${accounts[0].slice(68)}`
}
