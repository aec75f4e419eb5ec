import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseConfig } from '../config.ts'
import { assert, present } from '../lib/assert.ts'
import { createLog } from '../lib/log.ts'
import { developmentKeys } from '../node/embedded/development.ts'
import { type Address, Ed25519Address } from '../protocol/addresses.ts'
import { asksForHelp, type Command, done, failed, type ProcessIo } from './command.ts'
import { createGatewayClient, type GatewayClient, members } from './gateway-client.ts'
import { addressText, networkParameters, pay } from './spend.ts'

/** Shows the main job in half a minute: a signed transaction, and its ledger updates by three transports. */
export const demo: Command = {
  help: `Starts a gateway on a temporary file, opens a subscription, sends a real signed transaction, and prints
the ledger updates as they arrive by subscription, by query and by REST. Ends with 0 only if the three agree.

Usage: ledger-gateway demo
`,
  run: async (process, words) => {
    if (asksForHelp(words)) {
      process.stdout(demo.help)
      return done
    }
    const folder = await mkdtemp(join(tmpdir(), 'ledger-gateway-demo-'))
    try {
      return await onGateway(process, `file:${join(folder, 'demo.db')}`)
    } finally {
      await rm(folder, { recursive: true })
    }
  },
}

async function onGateway(process: ProcessIo, database: string): Promise<number> {
  const config = parseConfig({ PORT: '0', DATABASE_URL: database }, [])
  assert(config.ok, 'the settings of the demo are right')
  const { clock } = process
  const log = createLog({ clock, write: process.stderr }, 'warn')
  const { openGateway } = await import('../gateway.ts')
  const gateway = await openGateway(config.value, { clock, log })
  assert(gateway.ok, 'a gateway on a temporary file starts')
  const { url } = gateway.value
  process.stdout(`A gateway runs at ${url}, on a temporary file.\n`)
  const client = createGatewayClient(url)
  const shown = show(process, client)
  try {
    return await Promise.race([shown, process.stopped.then(() => interrupted(process, shown))])
  } finally {
    await client.close()
    await gateway.value.close()
  }
}

function interrupted(process: ProcessIo, shown: Promise<number>): number {
  // The request under way fails when its gateway closes; no caller waits for it.
  shown.catch(() => {})
  process.stderr('ledger-gateway demo: interrupted\n')
  return failed
}

/** An update as the demo compares it. */
interface Seen {
  readonly outputId: string
  readonly isSpent: boolean
  readonly milestoneIndex: number
}

async function show(process: ProcessIo, client: GatewayClient): Promise<number> {
  await ready(client)
  const parameters = await networkParameters(client)
  const [sender, receiver] = developmentKeys().users
  const from = present(sender, 'a funded key')
  const to: Address = {
    type: Ed25519Address.code,
    pubKeyHash: present(receiver, 'a funded key').publicKeyHash,
  }
  const address = addressText(parameters, to)
  const before = await byQuery(client, address)

  const events = client.follow(subscription, { addresses: [address] })[Symbol.asyncIterator]()
  await events.next()
  process.stdout(`Following ${address}.\n`)
  const amount = 5_000_000n
  const paid = await pay(client, { from, to, amount, nowNs: process.clock.nowNs() })
  assert(paid.ok, 'a funded key can pay')
  process.stdout(`Sent ${amount} base tokens in transaction ${paid.value.transactionId}.\n`)

  const followed = updatesOf((await events.next()).value)
  print(process, 'subscription', followed)
  await events.return?.()
  const known = new Set(before.map(({ outputId }) => outputId))
  const queried = (await byQuery(client, address)).filter(({ outputId }) => !known.has(outputId))
  print(process, 'query       ', queried)
  const listed = (await byRest(client, address)).filter(({ outputId }) => !known.has(outputId))
  print(process, 'REST        ', listed)

  const agree = [queried, listed].every((seen) => text(seen) === text(followed))
  const isOurs = followed.length === 1 && followed[0]?.outputId.startsWith(paid.value.transactionId)
  process.stdout(agree && isOurs ? 'The three agree.\n' : 'The three do not agree.\n')
  return agree && isOurs ? done : failed
}

/** A new ledger commits the slots that lie in its past first. */
async function ready(client: GatewayClient): Promise<void> {
  for (;;) {
    const { status } = await client.get('/api/core/v3/info')
    if (members(status).isHealthy === true) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

const subscription = `subscription ($addresses: [String!]) {
  ledgerUpdates(addresses: $addresses) {
    __typename
    ... on LedgerUpdateBatch { updates { outputId isSpent milestoneIndex } }
  }
}`

const query = `query ($address: String!) {
  ledgerUpdates(address: $address) { nodes { outputId isSpent milestoneIndex } }
}`

async function byQuery(client: GatewayClient, address: string): Promise<Seen[]> {
  const { ledgerUpdates } = await client.query(query, { address })
  return seen(members(ledgerUpdates).nodes)
}

async function byRest(client: GatewayClient, address: string): Promise<Seen[]> {
  return seen((await client.get(`/api/explorer/v2/ledger/updates/by-address/${address}`)).items)
}

function updatesOf(event: unknown): Seen[] {
  const { data } = members(event)
  return seen(members(members(data).ledgerUpdates).updates)
}

function seen(updates: unknown): Seen[] {
  assert(Array.isArray(updates), 'the gateway answers with a list of updates')
  return updates.map(members).map(({ outputId, isSpent, milestoneIndex }) => ({
    outputId: String(outputId),
    isSpent: isSpent === true,
    milestoneIndex: Number(milestoneIndex),
  }))
}

function text(updates: readonly Seen[]): string {
  return JSON.stringify(updates)
}

function print(process: ProcessIo, door: string, updates: readonly Seen[]): void {
  for (const { outputId, isSpent, milestoneIndex } of updates) {
    const change = isSpent ? 'spent' : 'created'
    process.stdout(`  by ${door}: milestone ${milestoneIndex}, output ${outputId} ${change}\n`)
  }
}
