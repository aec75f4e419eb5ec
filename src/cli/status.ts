import { flagMessage, parseFlags } from '../lib/flags.ts'
import { isNodeUrl } from '../setting-values.ts'
import {
  asksForHelp,
  type Command,
  done,
  failed,
  type ProcessIo,
  refuse,
  table,
} from './command.ts'
import { createGatewayClient, type GatewayClient, members } from './gateway-client.ts'

/** Shows how a running gateway and its ledger stand. */
export const status: Command = {
  help: `Shows how a running gateway and its ledger stand: what /health/ready and the query status say. A
table on a terminal, JSON when piped.

Usage: ledger-gateway status [URL]

${table([['URL', 'of the running gateway (http://127.0.0.1:4000)']])}

The exit code is 0 where the gateway is healthy, and 1 where it is not, or does not answer.
`,
  run: async (process, words) => {
    if (asksForHelp(words)) {
      process.stdout(status.help)
      return done
    }
    const { problems } = parseFlags(words, { once: [] })
    const urls = problems.filter(({ code }) => code === 'WORD_UNEXPECTED').map(({ word }) => word)
    const [url = 'http://127.0.0.1:4000'] = urls
    const wrong = [
      ...problems.filter(({ code }) => code !== 'WORD_UNEXPECTED').map(flagMessage),
      ...(urls.length > 1 ? ['one URL at a time'] : []),
      ...(isNodeUrl(url) ? [] : [`${url} is no URL; it must be http(s)://HOST[:PORT][/PATH]`]),
    ]
    if (wrong.length > 0) return refuse(process, 'status', wrong)
    const client = createGatewayClient(url.replace(/\/$/, ''))
    try {
      return await show(process, client)
    } catch (failure) {
      // Nothing answers there, or no gateway.
      const said = failure instanceof Error ? failure.message : String(failure)
      process.stderr(`ledger-gateway status: ${url}: ${said}\n`)
      return failed
    } finally {
      await client.close()
    }
  },
}

async function show(process: ProcessIo, client: GatewayClient): Promise<number> {
  const health = await client.health()
  // A gateway whose database is away still says that.
  const answered = await client.query(document, {}).catch(() => undefined)
  const ledger = answered === undefined ? undefined : members(answered.status)
  const found = { url: client.url, health, ledger: ledger ?? null }
  const text = process.isTerminal ? `${rowsOf(health, ledger)}\n` : `${JSON.stringify(found)}\n`
  process.stdout(text)
  return health.isHealthy === true ? done : failed
}

const document = `query {
  status {
    mode role lagSeconds blocksPerSecond transactionsPerSecond
    committed { slot end } current { slot } addresses accounts unspentOutputs baseTokenSupply
  }
}`

type Members = Readonly<Record<string, unknown>>

function rowsOf(health: Members, ledger: Members | undefined): string {
  const { isHealthy, reason, role, term, starting, following } = health
  const why = reason === undefined ? '' : `: ${String(reason)}`
  const rows: [string, string][] = [
    ['health', `${isHealthy === true ? 'healthy' : 'not healthy'}${why}`],
    ['role', `${String(role)}, term ${String(term)}`],
  ]
  if (starting !== undefined) {
    const { step, done: ready, of } = members(starting)
    rows.push(['starting', `${String(step)}, ${String(ready)} of ${String(of)}`])
  }
  if (following !== undefined) {
    const { state, committedSlot, newestSlot } = members(following)
    rows.push([
      'following',
      `${String(state)}, slot ${String(committedSlot)} of ${String(newestSlot)}`,
    ])
  }
  return table([...rows, ...(ledger === undefined ? [noLedger] : ledgerRows(ledger))])
}

const noLedger: [string, string] = ['ledger', 'cannot be read']

function ledgerRows(ledger: Members): [string, string][] {
  const committed = members(ledger.committed)
  const perSecond = (value: unknown) => (value === null ? 'not reported' : Number(value).toFixed(2))
  return [
    ['mode', String(ledger.mode).toLowerCase()],
    ['committed slot', `${committed.slot}, which ended ${String(committed.end)}`],
    ['current slot', String(members(ledger.current).slot)],
    ['lag', `${ledger.lagSeconds} s`],
    ['blocks a second', perSecond(ledger.blocksPerSecond)],
    ['transactions a second', perSecond(ledger.transactionsPerSecond)],
    ['addresses', String(ledger.addresses)],
    ['accounts', String(ledger.accounts)],
    ['unspent outputs', String(ledger.unspentOutputs)],
    ['base tokens', String(ledger.baseTokenSupply)],
  ]
}
