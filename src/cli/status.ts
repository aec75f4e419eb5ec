import { inWords } from '../lib/in-words.ts'
import { messageIn } from '../lib/thrown.ts'
import { healthReasonCodes, healthReasons } from '../node/health-reasons.ts'
import { type Call, readCall, urlProblems } from './call.ts'
import { type Command, done, fail, failed, table } from './command.ts'
import { defaultUrl } from './declaration.ts'
import { statusDeclaration } from './declarations/gateway.ts'
import { createGatewayClient, type GatewayClient, members } from './gateway-client.ts'

/** Shows the status of a running gateway and its ledger. */
export const status: Command = {
  run: async (process, given) => {
    const problemsOf = ({ words }: Call) => urlProblems('URL', words[0])
    const call = readCall(process, statusDeclaration, given, problemsOf)
    if (typeof call === 'number') return call
    const [url = defaultUrl] = call.words
    const client = createGatewayClient(url, { signal: call.signal })
    try {
      return await show(call, client)
    } catch (failure) {
      // No server answers at the URL, or one that is overloaded or not a gateway, or the process has to stop.
      return fail(process, 'status', `${url}: ${messageIn(failure)}`)
    } finally {
      await client.close()
    }
  },
}

async function show(call: Call, client: GatewayClient): Promise<number> {
  const health = await client.health()
  // A gateway whose database is unavailable still reports its health.
  const answered = await client.query(document, {}).catch(() => undefined)
  const ledger = answered === undefined ? undefined : members(answered.status)
  const found = { url: client.url, health, ledger: ledger ?? null }
  call.print(`${rowsOf(health, ledger)}\n`, found)
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
  const { isHealthy, role, term, starting, following } = health
  const reasons = Array.isArray(health.reasons) ? health.reasons.map(String) : []
  const why = reasons.length === 0 ? '' : `: ${reasons.join(', ')}`
  const rows: [string, string][] = [
    ['health', `${isHealthy === true ? 'healthy' : 'not healthy'}${why}`],
    ...reasons.flatMap(sentenceRow),
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

/** The description of a reason. A gateway of another version may return a reason that this version does not know. */
function sentenceRow(reason: string): [string, string][] {
  const code = healthReasonCodes.find((one) => inWords(one) === reason)
  return code === undefined ? [] : [['', healthReasons[code]]]
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
    ['blocks per second', perSecond(ledger.blocksPerSecond)],
    ['transactions per second', perSecond(ledger.transactionsPerSecond)],
    ['addresses', String(ledger.addresses)],
    ['accounts', String(ledger.accounts)],
    ['unspent outputs', String(ledger.unspentOutputs)],
    ['base tokens', String(ledger.baseTokenSupply)],
  ]
}
