import { addressText } from '../../support/chain-ids.ts'
import { type GraphqlAnswer, graphql } from '../../support/client.ts'
import { rest } from '../../support/rest.ts'
import type { Differences } from '../differences.ts'
import type { HistoryWorld } from './world.ts'

/** Chain records, set by REST and GraphQL, one after another and at once (specification 4.1; design 6). */

/** The record of a chain. */
export interface ModelRecord {
  readonly accessNodes: readonly string[]
  readonly isActive: boolean
}

/** The chain records of a history. */
export interface Records {
  /** One to four random changes, sometimes several of one chain at once, and requests that must be refused. */
  step(): Promise<void>
  /** All versions of each chain, the oldest first. */
  readonly versionsByChain: ReadonlyMap<string, readonly ModelRecord[]>
  /** The number of changes of all chains. */
  changes(): number
}

/** The first is an account, the second an anchor, the third an account of another network. */
const chains = [addressText(8, 1), addressText(24, 2), addressText(8, 3, { hrp: 'iota' })]

/** Starts without records. */
export async function createRecords(world: HistoryWorld, differ: Differences): Promise<Records> {
  const { random } = world
  const writer = await world.token('writer', 'chain-record:write')
  const reader = await world.token('reader', 'block:submit')
  const versionsByChain = new Map<string, ModelRecord[]>()
  let serial = 0

  const newest = (chain: string) => versionsByChain.get(chain)?.at(-1)
  const version = (chain: string) => versionsByChain.get(chain)?.length ?? 0
  const pick = <T>(list: readonly [T, ...T[]]) =>
    list[random.between(0, list.length - 1)] ?? list[0]
  const anyChain = () => pick(chains as [string, ...string[]])

  async function step(): Promise<void> {
    for (let n = random.between(1, 4); n > 0; n--) {
      const chain = anyChain()
      const act = pick([setOnce, setOnce, setTogether, setIf, turn, setWrongly])
      await act(chain)
    }
  }

  function anyRecord(chain: string): ModelRecord {
    const former = newest(chain)
    // The same record again makes a version of its own.
    if (former !== undefined && random.between(0, 3) === 0) return former
    const accessNodes = Array.from({ length: random.between(0, 3) }, () => `node ${serial++} é`)
    return { accessNodes, isActive: random.between(0, 2) > 0 }
  }

  async function setOnce(chain: string): Promise<void> {
    const record = anyRecord(chain)
    expectSet(chain, await setBy(pick(['rest', 'graphql']), chain, record), record)
  }

  /** Several writers at once: every one of them makes a version of its own, in any order. */
  async function setTogether(chain: string): Promise<void> {
    const records = Array.from({ length: random.between(2, 5) }, () => ({
      ...{ accessNodes: [`node ${serial++}`], isActive: random.between(0, 1) === 0 },
    }))
    const outcomes = await Promise.all(
      records.map(async (record) => ({
        ...{ record, outcome: await setBy(pick(['rest', 'graphql']), chain, record) },
      })),
    )
    outcomes.sort((a, b) => (a.outcome.version ?? 0) - (b.outcome.version ?? 0))
    for (const { record, outcome } of outcomes) expectSet(chain, outcome, record)
  }

  /** Only if a version is the newest one. */
  async function setIf(chain: string): Promise<void> {
    const record = anyRecord(chain)
    const present = version(chain)
    const expected = random.between(0, 1) === 0 ? present : present + random.between(1, 3)
    const outcome = await setBy(pick(['rest', 'graphql']), chain, record, Math.max(expected, 1))
    if (expected === present && present > 0) expectSet(chain, outcome, record)
    else differ.equal(`setting ${chain} if ${expected}`, outcome.code, 'CHAIN_RECORD_STALE')
  }

  /** Activates or deactivates. A flag that is as asked for makes no version. */
  async function turn(chain: string): Promise<void> {
    const isActive = random.between(0, 1) === 0
    const path = `${world.url}/v1/chains/${chain}/${isActive ? 'activate' : 'deactivate'}`
    const headers = { authorization: `Bearer ${writer}` }
    const response = await rest(path, { method: 'POST', headers })
    const former = newest(chain)
    if (former === undefined) {
      differ.equal(`turning ${chain}`, response.status, 404)
      return
    }
    const record = { ...former, isActive }
    if (former.isActive !== isActive) versionsByChain.get(chain)?.push(record)
    const { chainID, accessNodes, isActive: flag, version: number } = await response.json()
    const actual = { status: response.status, chainID, accessNodes, isActive: flag, number }
    const expected = { status: 200, chainID: chain, ...record, number: version(chain) }
    differ.equal(`turning ${chain}`, actual, expected)
  }

  /** Requests that change nothing: without a token, with another scope, and of an address that is no chain. */
  async function setWrongly(chain: string): Promise<void> {
    const record = { accessNodes: [], isActive: true }
    const none = await byRest(chain, record, {})
    differ.equal('setting a record without a token', none.status, 401)
    const scope = await byRest(chain, record, { authorization: reader })
    differ.equal('setting a record with a token of another scope', scope.status, 403)
    const nowhere = await setBy(pick(['rest', 'graphql']), addressText(0, 1), record)
    differ.equal('setting the record of a key', nowhere.code, 'CHAIN_ID_NOT_A_CHAIN')
  }

  function expectSet(chain: string, outcome: Outcome, record: ModelRecord): void {
    const versions = versionsByChain.get(chain) ?? []
    versionsByChain.set(chain, versions)
    versions.push(record)
    differ.equal(`setting ${chain}`, outcome, { ...record, chain, version: versions.length })
  }

  async function setBy(
    way: 'rest' | 'graphql',
    chain: string,
    record: ModelRecord,
    ifVersion?: number,
  ): Promise<Outcome> {
    const authorization = pick([writer, `Bearer ${writer}`])
    if (way === 'rest') {
      const condition = ifVersion === undefined ? {} : { 'if-match': `"${ifVersion}"` }
      // A chain id may be written in capitals.
      const path = random.between(0, 3) === 0 ? chain.toUpperCase() : chain
      const response = await byRest(path, record, { authorization, ...condition })
      const { chainID, accessNodes, isActive, version } = await response.json()
      if (response.status === 201) return { chain: chainID, accessNodes, isActive, version }
      const codes = new Map([
        [412, 'CHAIN_RECORD_STALE'],
        [400, 'CHAIN_ID_NOT_A_CHAIN'],
      ])
      return { code: codes.get(response.status) ?? `${response.status}` }
    }
    const query = `mutation ($chainId: String!, $record: ChainRecordInput!, $ifVersion: UInt32) {
      setChainRecord(chainId: $chainId, record: $record, ifVersion: $ifVersion) {
        chain: chainId accessNodes isActive version } }`
    const variables = { chainId: chain, record, ifVersion }
    const headers = { authorization: `Bearer ${writer}` }
    const { data, errors = [] }: GraphqlAnswer = await graphql(world.url, query, variables, headers)
    return errors[0] === undefined ? data.setChainRecord : { code: errors[0].extensions.code }
  }

  function byRest(
    chain: string,
    record: ModelRecord,
    headers: Record<string, string>,
  ): Promise<Response> {
    return rest(`${world.url}/v1/chains/${chain}/chainrecord`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(record),
    })
  }

  const changes = () => [...versionsByChain.values()].reduce((sum, { length }) => sum + length, 0)
  return { step, versionsByChain, changes }
}

/** A record that was set, or the code of an error. */
interface Outcome extends Partial<ModelRecord> {
  readonly chain?: string
  readonly version?: number
  readonly code?: string
}
