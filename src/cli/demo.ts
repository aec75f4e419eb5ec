import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import host from 'node:process'
import { parseConfig } from '../config.ts'
import { assert, present } from '../lib/assert.ts'
import { createLog } from '../lib/log.ts'
import { developmentKeys } from '../node/embedded/development.ts'
import { type Address, Ed25519Address } from '../protocol/addresses.ts'
import { type Call, readCall } from './call.ts'
import type { Command, ProcessIo } from './command.ts'
import { demoDeclaration } from './declarations/tools.ts'
import { createGatewayClient, type GatewayClient, members } from './gateway-client.ts'
import { addressText, networkParameters, pay } from './spend.ts'
import { createStartProgress } from './start-progress.ts'
import { exitCodeOf } from './with-database.ts'

/** Demonstrates the gateway in half a minute: sends a signed transaction, and shows its ledger updates over three transports. */
export const demo: Command = {
  run: async (process, words) => {
    const call = readCall(process, demoDeclaration, words)
    if (typeof call === 'number') return call
    return exitCodeOf(process, demoDeclaration, async () => {
      const folder = await mkdtemp(join(tmpdir(), 'ledger-gateway-demo-'))
      const remove = () => rmSync(folder, { recursive: true, force: true })
      // The process ends at once when the reader of its output has ended, as `head` does, or at a second signal.
      host.once('exit', remove)
      try {
        return await runDemo(process, call, `file:${join(folder, 'demo.db')}`)
      } finally {
        host.off('exit', remove)
        remove()
      }
    })
  },
}

/** Runs the demonstration; resolves to an error message if it fails. */
async function runDemo(
  process: ProcessIo,
  call: Call,
  database: string,
): Promise<string | undefined> {
  // Log events of slow operations would disturb the output of the demo.
  const env = { PORT: '0', DATABASE_URL: database, SLOW_OPERATION_MS: '0' }
  const config = parseConfig(env, [])
  assert(config.ok, 'the settings of the demo are valid')
  const { clock } = process
  const log = createLog({ clock, write: process.stderr }, 'warn')
  const { startMessage, tryOpenGateway } = await import('./run-gateway.ts')
  const gateway = await tryOpenGateway(config.value, { clock, log })
  if (!gateway.ok) return startMessage(gateway.error)
  const { url } = gateway.value
  call.print(`A gateway runs at ${url}, on a temporary file.\n`, { url })
  const client = createGatewayClient(url)
  const shown = show(process, call, client)
  try {
    return await Promise.race([shown, process.stopped.then(() => interrupted(shown))])
  } finally {
    await client.close()
    await gateway.value.close()
  }
}

function interrupted(shown: Promise<unknown>): string {
  // The request in progress fails when the gateway closes, and no caller waits for it.
  shown.catch(() => {})
  return 'interrupted'
}

/** The fields of an update that the demo compares. */
interface ShownUpdate {
  readonly outputId: string
  readonly isSpent: boolean
  readonly milestoneIndex: number
}

async function show(
  process: ProcessIo,
  { print, signal }: Call,
  client: GatewayClient,
): Promise<string | undefined> {
  // A new ledger first commits the slots that lie in the past.
  await createStartProgress(process).until(client, signal)
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
  print(`Following ${address}.\n`, { following: address })
  const amount = 5_000_000n
  const paid = await pay(client, { from, to, amount, nowNs: process.clock.nowNs() })
  assert(paid.ok, 'a funded key can pay')
  const { transactionId } = paid.value
  const sent = `Sent ${amount} base tokens in transaction ${transactionId}.\n`
  print(sent, { transactionId, amount: String(amount) })

  const followed = updatesOf((await events.next()).value)
  printUpdates(print, 'subscription', followed)
  await events.return?.()
  const known = new Set(before.map(({ outputId }) => outputId))
  const queried = (await byQuery(client, address)).filter(({ outputId }) => !known.has(outputId))
  printUpdates(print, 'query', queried)
  const listed = (await byRest(client, address)).filter(({ outputId }) => !known.has(outputId))
  printUpdates(print, 'REST', listed)

  const agree = [queried, listed].every((updates) => text(updates) === text(followed))
  const isOurs = followed.length === 1 && followed[0]?.outputId.startsWith(transactionId)
  const agrees = agree && isOurs === true
  print(agrees ? 'The three transports agree.\n' : '', { agrees })
  return agrees ? undefined : 'the three transports do not agree'
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

async function byQuery(client: GatewayClient, address: string): Promise<ShownUpdate[]> {
  const { ledgerUpdates } = await client.query(query, { address })
  return parseUpdates(members(ledgerUpdates).nodes)
}

async function byRest(client: GatewayClient, address: string): Promise<ShownUpdate[]> {
  return parseUpdates(
    (await client.get(`/api/explorer/v2/ledger/updates/by-address/${address}`)).items,
  )
}

function updatesOf(event: unknown): ShownUpdate[] {
  const { data } = members(event)
  return parseUpdates(members(members(data).ledgerUpdates).updates)
}

function parseUpdates(updates: unknown): ShownUpdate[] {
  assert(Array.isArray(updates), 'the gateway returns a list of updates')
  return updates.map(members).map(({ outputId, isSpent, milestoneIndex }) => ({
    outputId: String(outputId),
    isSpent: isSpent === true,
    milestoneIndex: Number(milestoneIndex),
  }))
}

function text(updates: readonly ShownUpdate[]): string {
  return JSON.stringify(updates)
}

function printUpdates(
  print: Call['print'],
  transport: string,
  updates: readonly ShownUpdate[],
): void {
  const lines = updates.map(({ outputId, isSpent, milestoneIndex }) => {
    const change = isSpent ? 'spent' : 'created'
    const by = transport.padEnd('subscription'.length)
    return `  by ${by}: milestone ${milestoneIndex}, output ${outputId} ${change}\n`
  })
  print(lines.join(''), { transport, updates })
}
