import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { snapshot } from '../../../src/cli/snapshot.ts'
import { assert, present } from '../../../src/lib/assert.ts'
import { type Hex, hexToBytes } from '../../../src/lib/hex.ts'
import { runToCompletion } from '../../../src/lib/turns.ts'
import { accountIdOfKey } from '../../../src/node/embedded/development.ts'
import { genesisSteps } from '../../../src/node/genesis.ts'
import { readGenesisFile } from '../../../src/node/genesis-file.ts'
import { createLineReader } from '../../../src/node/snapshot/check-snapshot.ts'
import { inOrder } from '../../../src/node/snapshot/iota-core/in-order.ts'
import {
  type ProvenOutput,
  parsePart,
  type SnapshotHead,
  splitLine,
} from '../../../src/node/snapshot/snapshot-format.ts'
import { snapshotSource } from '../../../src/node/snapshot/snapshot-source.ts'
import type { Output } from '../../../src/protocol/outputs.ts'
import type { OutputId } from '../../../src/protocol/primitives.ts'
import { maxSlot } from '../../../src/protocol/slots.ts'
import type { AccountAt } from '../../../src/store/contract/ledger-snapshot.ts'
import type { Genesis } from '../../../src/store/contract.ts'
import { byteDamage } from '../../support/damage.ts'
import { defaultDatabase } from '../../support/databases.ts'
import { writeGenesis } from '../../support/genesis-gateway.ts'
import { type IotaCoreLedger, iotaCoreFile } from '../../support/iota-core-file.ts'
import { type LogTables, logTables } from '../../support/log-tables.ts'
import { rest, restJson } from '../../support/rest.ts'
import { runCommand } from '../../support/run-command.ts'
import { runs } from '../../support/runs.ts'
import { startGateway, type TestGateway } from '../../support/start-gateway.ts'
import { until } from '../../support/until.ts'
import {
  addressOf,
  blockOf,
  offerOf,
  ownedBy,
  paymentOf,
  postBytes,
  slotNow,
  untilCommitted,
  user,
} from '../../support/wallet.ts'

/** Tests snapshot files of iota-core. They are made from a ledger of this program by the source that the reader also follows. */

const testDatabases: Awaited<ReturnType<ReturnType<typeof defaultDatabase>['create']>>[] = []
let folder: string
let genesis: ReturnType<typeof writeGenesis>
let node: TestGateway
let ledger: IotaCoreLedger
let validFile: string
/** The outputs and accounts of the genesis. */
let first: Pick<Genesis, 'outputs' | 'accounts'>

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-iota-core-'))
  genesis = writeGenesis([
    ...Array.from({ length: 5 }, () => ownedBy(user(1), 1_000_000n)),
    ...[2, 3].map(accountOf),
  ])
  const plan = await readGenesisFile(genesis.path)
  assert(plan.ok, 'the genesis is read')
  first = runToCompletion(genesisSteps(plan.value))
  node = await startGateway({ env: { GENESIS_FILE: genesis.path, DATABASE_URL: await database() } })
  await pay()
  ledger = await ledgerOf(node)
  validFile = fileOf('right', ledger)
})
afterAll(async () => {
  await node.close()
  for (const one of testDatabases) await one.remove()
  genesis.remove()
  rmSync(folder, { recursive: true })
})

/** Returns an account that may issue blocks. */
function accountOf(owner: number): Output {
  const { publicKeyHash: pubKeyHash } = user(owner)
  return {
    type: 1,
    amount: 1_000_000n,
    mana: 0n,
    accountId: accountIdOfKey(user(owner)),
    foundryCounter: 0,
    unlockConditions: [{ type: 0, address: { type: 0, pubKeyHash } }],
    features: [{ type: 6, expirySlot: maxSlot, blockIssuerKeys: [{ type: 0, pubKeyHash }] }],
    immutableFeatures: [],
  }
}

async function database(): Promise<string> {
  const one = await defaultDatabase().create()
  testDatabases.push(one)
  return one.url
}

async function pay(): Promise<void> {
  const offer = await offerOf(node.url)
  const path = `${node.url}/api/indexer/v2/outputs/basic?address=${addressOf(user(1))}`
  const [spend] = (await restJson(path)).items
  const outputs = [ownedBy(user(2), 400_000n), ownedBy(user(1), 600_000n)]
  const creationSlot = slotNow(offer.network)
  const payment = paymentOf(offer.network, { spend, key: user(1), outputs, creationSlot })
  const posted = await postBytes(node.url, blockOf(offer, payment.payload).bytes)
  expect(posted.status).toBe(201)
  await untilCommitted(node.url, slotNow(offer.network))
}

/** Returns the ledger at the end of the newest slot. */
async function ledgerOf({ url, databaseUrl }: TestGateway): Promise<IotaCoreLedger> {
  const answer = await rest(`${url}/api/gateway/v1/snapshot`)
  let head: SnapshotHead | undefined
  const outputs: ProvenOutput[] = []
  const accounts: AccountAt[] = []
  for (const line of (await answer.text()).trimEnd().split('\n')) {
    const part = parsePart(splitLine(line)?.text ?? '')
    if (part?.section === 'head') head = part.head
    if (part?.section === 'outputs') outputs.push(...part.rows)
    if (part?.section === 'accounts') accounts.push(...part.rows)
  }
  const { slot, parameters, roots } = present(head, 'the head of the snapshot')
  const { commitments } = await logTables(databaseUrl, slot)
  const bySlot = new Map(commitments.map((row) => [Number(row.split(' ')[0]), row.split(' ')[2]]))
  const bytes = Array.from({ length: slot + 1 }, (_, i) => hexToBytes(`0x${bySlot.get(i)}`))
  return { slot, parameters, roots, commitments: bytes, outputs, accounts }
}

function fileOf(name: string, of: IotaCoreLedger | Uint8Array): string {
  const path = join(folder, name)
  writeFileSync(path, of instanceof Uint8Array ? of : iotaCoreFile(of).bytes)
  return path
}

async function linesOf(path: string): Promise<string[]> {
  const lines: string[] = []
  for await (const line of snapshotSource(path).lines(undefined)) lines.push(line)
  return lines
}

const check = (path: string) => runCommand(snapshot, ['check', path])

/** Returns the ledger with what two later slots created and consumed, as a node exports a slot that is not its newest one. */
function rolledBack(): IotaCoreLedger {
  const [first, second] = [ledger.outputs[0], ledger.outputs[2]]
  const later = (n: number, booked: number): ProvenOutput => {
    const outputId = `0x${`${n}7`.repeat(38)}` as OutputId
    return { ...present(first, 'an output'), outputId, bookedSlot: ledger.slot + booked }
  }
  const [one, two, three] = [later(1, 1), later(2, 1), later(3, 2)]
  return {
    ...ledger,
    accounts: [...ledger.accounts].reverse(),
    since: [
      { created: [one, two], consumed: [present(second, 'an output')] },
      { created: [three], consumed: [present(first, 'an output'), one] },
    ],
  }
}

describe('a file', () => {
  test('is proved by its commitment', async () => {
    const { code, stdout, stderr } = await check(validFile)
    expect([code, stderr]).toEqual([0, ''])
    const { outputs, accounts } = JSON.parse(stdout)
    expect([outputs, accounts]).toEqual([ledger.outputs.length, ledger.accounts.length])
  })

  test('that was rolled back from a later slot has the same content', async () => {
    const path = fileOf('rolled back', rolledBack())
    expect(await linesOf(path)).toEqual(await linesOf(validFile))
  })

  test('is read from a position onwards', async () => {
    const lines = await linesOf(validFile)
    const reader = createLineReader({ withProofs: true })
    for (const line of lines.slice(0, 2)) await reader.take(line)
    const rest: string[] = []
    for await (const line of snapshotSource(validFile).lines(reader.position())) rest.push(line)
    expect(rest).toEqual(lines.slice(2))
  })
})

describe('a follower', () => {
  test('has the same data from its snapshot on as one that began at the genesis', async () => {
    const whole = await startGateway({ env: await upstreamEnv() })
    const begun = await startGateway({ env: { ...(await upstreamEnv()), SNAPSHOT: validFile } })
    await pay()
    const { milestoneIndex } = await restJson(`${node.url}/api/gateway/v1/log`)
    await Promise.all([whole, begun].map(({ url }) => untilCommitted(url, milestoneIndex)))
    let pair: readonly unknown[] = []
    const isSame = async () => {
      const both = [whole, begun].map(({ databaseUrl }) => logTables(databaseUrl, 2 ** 31))
      pair = (await Promise.all(both)).map(sinceSnapshot)
      return isDeepStrictEqual(pair[0], pair[1])
    }
    await until(isSame).catch(() => {})
    expect(pair[1]).toEqual(pair[0])
    const log = await restJson(`${begun.url}/api/gateway/v1/log`)
    expect(log.prunedSeq).toBeGreaterThan(0)
    expect(log.logId).not.toBe((await restJson(`${node.url}/api/gateway/v1/log`)).logId)
    await begun.close()
    await whole.close()
  })
})

async function upstreamEnv() {
  return { LEDGER: 'upstream', UPSTREAM_URLS: node.url, DATABASE_URL: await database() }
}

/** Returns the rows that do not depend on where a log began: without positions, ordinals and history hashes. */
function sinceSnapshot({ ledger_updates, unspent_outputs, balances, token_balances }: LogTables) {
  const log = ledger_updates.flatMap((row) => {
    const [, address, updateClass, , roles, slot, outputId, isSpent, , ...rest] = row.split(' ')
    if (Number(slot) <= ledger.slot) return []
    return [[address, updateClass, roles, slot, outputId, isSpent, ...rest].join(' ')]
  })
  return { log: log.sort(), unspent_outputs, balances, token_balances }
}

describe('the genesis', () => {
  test('is not proved by its commitment', async () => {
    expect(await check(fileOf('first', firstOf(ledger)))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('SNAPSHOT_OF_GENESIS'),
    })
  })

  test('is a genesis file with the same content as the JSON file', async () => {
    const first = firstOf(ledger)
    const read = await readGenesisFile(fileOf('first', first))
    const json = await readGenesisFile(genesis.path)
    assert(read.ok && json.ok, 'both are read')
    const { credits, ...plan } = read.value
    const { credits: given, ...rest } = json.value
    expect(plan).toEqual(rest)
    for (const [id, amount] of given) expect(credits.get(id)).toBe(amount)
  })

  test('is rejected if it does not lead to its ids, its supply or its commitment', async () => {
    const first = firstOf(ledger)
    const { outputs, commitments } = first
    const bytesOf = (place: number) => present(outputs.at(place), 'an output').bytes
    const swapped = outputs.map((row, i) => ({ ...row, bytes: bytesOf(outputs.length - 1 - i) }))
    const errorOf = async (name: string, changed: IotaCoreLedger) => {
      const read = await readGenesisFile(fileOf(name, changed))
      return read.ok ? 'taken' : `${read.error.code}: ${read.error.reason}`
    }
    const other = Uint8Array.from(present(commitments[0], 'a commitment'))
    other[88] = 1
    expect(await errorOf('swapped', { ...first, outputs: swapped })).toContain(
      'do not match their ids',
    )
    expect(await errorOf('fewer', { ...first, outputs: outputs.slice(0, -1) })).toContain(
      'do not match their ids',
    )
    expect(await errorOf('commitment', { ...first, commitments: [other] })).toContain(
      'its commitment',
    )
    expect(await errorOf('later', ledger)).toContain(`a snapshot of slot ${ledger.slot}`)
    const { bytes } = iotaCoreFile(first)
    writeFileSync(join(folder, 'cut'), bytes.subarray(0, 300))
    const cut = await readGenesisFile(join(folder, 'cut'))
    expect(cut).toMatchObject({ error: { reason: expect.stringContaining('byte') } })
  })
})

/** Returns the same ledger at its genesis. */
function firstOf({ commitments, ...same }: IotaCoreLedger): IotaCoreLedger {
  const outputs = first.outputs.map((row) => ({
    ...row,
    chainOrdinal: undefined,
    proof: '0x' as Hex,
  }))
  const accounts = first.accounts.map(({ accountId, entry }) => {
    return { accountId, entry: present(entry, 'the entry of an account') }
  })
  return {
    ...same,
    slot: 0,
    commitments: commitments.slice(0, 1),
    roots: undefined,
    outputs,
    accounts,
  }
}

describe('malformed data is rejected with its position', () => {
  interface Damage {
    readonly part: string
    /** Position of the error, from the beginning of the part. */
    readonly at: number
    /** Position of the changed byte, if it differs. */
    readonly changed?: number
    readonly bytes: Uint8Array
    readonly message: string
  }
  const u32 = (value: number) => Buffer.from(Uint32Array.of(value).buffer)
  const byte = (value: number) => Uint8Array.of(value)
  const flag = 8 + 4 + 8 + 32
  const rows: readonly (readonly [string, Damage])[] = [
    ['a version', { part: 'settings', at: 2, bytes: byte(9), message: 'protocol version 9' }],
    ['a count', { part: 'settings', at: 95, changed: 96, bytes: byte(255), message: 'no room' }],
    ['commitments', { part: 'commitments', at: 0, bytes: u32(9), message: 'one for each slot' }],
    [
      'a slot of a commitment',
      {
        part: 'commitments',
        at: 4,
        changed: 7,
        bytes: u32(77),
        message: 'not the commitment of slot 0',
      },
    ],
    [
      'a commitment',
      {
        part: 'commitments',
        at: 4 + 40 * 91,
        changed: 4 + 40 * 91 + 9,
        bytes: u32(77),
        message: 'does not name',
      },
    ],
    [
      'a slot of the ledger',
      { part: 'outputs', at: 0, bytes: u32(1), message: 'is before the slot of' },
    ],
    ['an output', { part: 'outputs', at: 94, bytes: byte(99), message: 'cannot be read' }],
    ['a length', { part: 'outputs', at: 90, bytes: u32(40_000), message: 'more than 32768' }],
    ['slots since', { part: 'slot diffs', at: 0, bytes: u32(1), message: 'do not lead from slot' }],
    ['a key', { part: 'accounts', at: 95, bytes: byte(4), message: '4 is not a kind of' }],
    ['a flag', { part: 'account diffs', at: flag, bytes: byte(2), message: 'neither true nor' }],
    [
      'a slot of signals',
      { part: 'upgrade signals', at: 0, bytes: u32(1), message: 'not the slot of' },
    ],
  ]

  test.each(rows)('%s', async (name, { part, at, changed = at, bytes, message }) => {
    const { bytes: whole, places } = iotaCoreFile(ledger)
    const start = present(places.get(part), part)
    whole.set(bytes, start + changed)
    const { code, stderr } = await check(fileOf(name, whole))
    expect([code, stderr]).toEqual([1, expect.stringContaining(message)])
    const place = `SNAPSHOT_FILE_MALFORMED: byte ${start + at} of the file, in the part "${part}"`
    expect(stderr).toContain(place)
  })

  test('a file that ends early at any position', async () => {
    const { bytes, places } = iotaCoreFile(rolledBack())
    const ends = [...places.values()].flatMap((place) => [place - 1, place, place + 1])
    for (const end of ends.filter((one) => one > 2 && one < bytes.length)) {
      const { code, stderr } = await check(fileOf('cut', bytes.subarray(0, end)))
      expect([end, code, stderr]).toEqual([
        end,
        1,
        expect.stringContaining('SNAPSHOT_FILE_MALFORMED'),
      ])
    }
  })

  test('any damage is rejected with a code, or has no effect on what is proved', async () => {
    const { bytes } = iotaCoreFile(rolledBack())
    await fc.assert(
      fc.asyncProperty(byteDamage, async (damage) => {
        const { code, stderr } = await check(fileOf('damaged', damage(bytes)))
        // The first bytes determine the format.
        const known =
          /^$|SNAPSHOT_(FILE_MALFORMED|OUTPUT_UNPROVED|ROOT_DIFFERS|SUPPLY_DIFFERS|MALFORMED|ENDED_EARLY)/
        expect([code === 0, stderr]).toEqual([stderr === '', expect.stringMatching(known)])
      }),
      runs(60),
    )
  })

  test('bytes after the end', async () => {
    const { bytes, places } = iotaCoreFile(ledger)
    const { stderr } = await check(fileOf('longer', Buffer.concat([bytes, Buffer.alloc(1)])))
    expect(stderr).toContain(`byte ${places.get('end')} of the file, in the part "end"`)
  })

  test('unordered outputs and duplicates', async () => {
    const since = rolledBack().since ?? []
    const [one, two] = [present(since[0], 'a slot'), present(since[1], 'a slot')]
    const errorOf = async (name: string, changed: IotaCoreLedger) =>
      (await check(fileOf(name, changed))).stderr
    const again = { ...two, consumed: [...two.consumed, ...one.consumed] }
    expect(await errorOf('twice', { ...ledger, since: [one, again] })).toContain('consumed twice')
    const accounts = [...ledger.accounts, ...ledger.accounts.slice(0, 1)]
    expect(await errorOf('account twice', { ...ledger, accounts })).toContain(
      'the account is listed twice',
    )
    const { bytes, places } = iotaCoreFile(ledger)
    bytes[present(places.get('outputs'), 'outputs') + 12] = 255
    expect((await check(fileOf('order', bytes))).stderr).toContain('not in the order of their ids')
  })
})

describe('unproved data is rejected', () => {
  test('changed contents, outputs, accounts or roots', async () => {
    const [first, ...others] = ledger.outputs
    const [account, ...accounts] = ledger.accounts
    const [output, entry] = [present(first, 'an output'), present(account, 'an account')]
    const richer = Uint8Array.from(output.bytes)
    richer[1] = (richer[1] ?? 0) ^ 1
    const credited = { ...entry, entry: { ...entry.entry, credits: entry.entry.credits + 1n } }
    const rows: readonly (readonly [string, Partial<IotaCoreLedger>])[] = [
      ['SNAPSHOT_OUTPUT_UNPROVED', { outputs: [{ ...output, bytes: richer }, ...others] }],
      ['SNAPSHOT_SUPPLY_DIFFERS', { outputs: others }],
      ['SNAPSHOT_ROOT_DIFFERS: the account root', { accounts: [credited, ...accounts] }],
      ['SNAPSHOT_ROOT_DIFFERS: the account root', { accounts }],
      ['SNAPSHOT_ROOT_DIFFERS: the roots id', { roots: ledger.roots?.toReversed() }],
    ]
    for (const [code, changed] of rows) {
      const { stderr } = await check(fileOf('unproved', { ...ledger, ...changed }))
      expect(stderr).toContain(code)
    }
  })
})

describe('positions in the order of their keys', () => {
  const places = ['d', 'a', 'e', 'c', 'b'].map((key, offset) => ({ key, offset }))
  async function sorted(some: typeof places, limit: number): Promise<string> {
    let passes = 0
    async function* read() {
      passes++
      yield* some
    }
    const keys: string[] = []
    const twice = ({ key }: { readonly key: string }): never => {
      throw new Error(`${key} twice`)
    }
    for await (const { key } of inOrder(read, twice, limit)) keys.push(key)
    return `${keys.join('')} in ${passes}`
  }

  test('are read in as many passes as the memory limit requires', async () => {
    expect(await sorted(places, 8)).toBe('abcde in 1')
    expect(await sorted(places, 2)).toBe('abcde in 3')
    expect(await sorted(places, 1)).toBe('abcde in 5')
  })

  test('contain each key once, also at the end of a pass', async () => {
    for (const limit of [1, 2, 3, 8]) {
      await expect(sorted([...places, { key: 'b', offset: 9 }], limit)).rejects.toThrow('b twice')
    }
  })
})
