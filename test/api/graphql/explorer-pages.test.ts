import { readFileSync } from 'node:fs'
import { parse } from 'graphql'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { operationCost } from '../../../src/api/graphql/cost.ts'
import { maxOperationCost } from '../../../src/api/graphql/prices.ts'
import { schema } from '../../../src/api/graphql/schema.ts'
import { checkUnspent } from '../../../src/explorer/parts/unspent-proof.ts'
import { createSettableClock } from '../../../src/lib/clock.ts'
import { hexToBytes } from '../../../src/lib/hex.ts'
import { encodeBech32 } from '../../../src/protocol/bech32.ts'
import { addressKey, transactionOf } from '../../../src/protocol/ids.ts'
import { askBothWays } from '../../support/both-ways.ts'
import { type ChainWorld, startChainWorld } from '../../support/chain-world.ts'
import { graphql } from '../../support/client.ts'
import { pages, textOf, variablesIn } from '../../support/explorer-pages.ts'
import { startGateway, type TestGateway } from '../../support/start-gateway.ts'
import { issuer, untilCommitted } from '../../support/wallet.ts'

/** The documents of `docs/examples/explorer`: a page of an explorer each, in one request. */

let started: ChainWorld
const root = new URL('../../../', import.meta.url)
let variables: Awaited<ReturnType<typeof variablesIn>>

beforeAll(async () => {
  started = await startChainWorld({ players: 50, rounds: 9 })
  variables = await variablesIn(started)
}, 240_000)
afterAll(() => started.world.close())

type Page = Exclude<keyof typeof variables, 'slot'>

async function page(name: Page) {
  const { data, errors } = await askBothWays(
    started.world.gateway.url,
    textOf(name),
    variables[name],
  )
  expect(errors).toBeUndefined()
  return data
}

test.each(pages)('%s costs what docs/graphql.md says, and is affordable', (name) => {
  const cost = operationCost({
    schema,
    document: parse(textOf(name)),
    variableValues: variables[name as Page],
  })
  expect(cost).toBeLessThan(maxOperationCost)
  const told = readFileSync(new URL('docs/graphql.md', root), 'utf8')
  expect(told).toContain(`| [${name}](examples/explorer/${name}.graphql) | ${cost} |`)
})

/** The fields that no node tells, on the pages of a gateway that follows this one. */
const untold: { readonly [name in Page]?: readonly string[] } = {
  home: ['milestones.nodes.blockCount', 'milestones.nodes.transactionCount', 'transactions'],
  milestone: ['blockCount', 'transactionCount', 'blocks', 'transactions'].map(
    (field) => `milestone.${field}`,
  ),
  milestones: ['milestones.nodes.blockCount', 'milestones.nodes.transactionCount'],
  blocks: ['blocks'],
  transactions: ['transactions'],
  block: ['block.children'],
  transaction: ['transaction.carriers'],
  account: ['account.entry', 'account.blocks'],
  accounts: ['accounts.nodes.entry'],
  validators: ['blocks'],
}

/** What is of the process, and what the schema says to be null in upstream mode. */
const unlike = [
  ...['current.slot', 'current.end', 'lagSeconds', 'blocksPerSecond', 'mode'].map(
    (member) => `status.${member}`,
  ),
  'activity.transactionsFailed',
  'health.following',
  'limits.value',
  // A gateway that follows knows the transactions that were asked for, and judges others anew.
  ...['outcome', 'refusal'].map((member) => `inspect.transaction.verdict.${member}`),
  'inspect.refusal',
]

describe('of a gateway that follows it', () => {
  let follower: TestGateway
  beforeAll(async () => {
    const { gateway } = started.world
    // The same time as there.
    const { data } = await graphql(gateway.url, '{ status { current { end } } }')
    const clock = createSettableClock(BigInt(Date.parse(data.status.current.end)) * 1_000_000n)
    const env = { LEDGER: 'upstream', UPSTREAM_URLS: gateway.url }
    follower = await startGateway({ clock, env })
    await untilCommitted(follower.url, started.slot, 120_000)
  }, 130_000)
  afterAll(() => follower.close())

  test('the roots behind a commitment are not known', async () => {
    const text = `query ($id: OutputId!) { output(id: $id) { unspentProof { roots } } }`
    const { data, errors } = await askBothWays(follower.url, text, variables.output)
    expect(data.output).toEqual({ unspentProof: null })
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['NOT_OFFERED_BY_NODES'])
  })

  test.each(pages)(
    '%s is the same, and what no node tells is null with its reason',
    async (name) => {
      const asked = [textOf(name), variables[name as Page]] as const
      const own = await graphql(started.world.gateway.url, ...asked)
      const followed = await askBothWays(follower.url, ...asked)
      const reasons = new Map(
        followed.errors?.map(({ path = [], extensions }) => [path.join('.'), extensions.code]),
      )
      expect(new Set(reasons.values())).toEqual(
        new Set(untold[name as Page] && ['NOT_OFFERED_BY_NODES']),
      )
      expect(new Set([...reasons.keys()].map(fieldOf))).toEqual(new Set(untold[name as Page]))
      const others = pathsOfDifferences(own.data, followed.data).filter(
        (path) => !reasons.has(path),
      )
      expect(others.map(fieldOf).filter((field) => !unlike.includes(field))).toEqual([])
    },
  )
})

/** The path without the places in lists. */
function fieldOf(path: string): string {
  return path.replaceAll(/\.[0-9]+(?=\.)/g, '')
}

type Json = Readonly<Record<string, unknown>>
const isJson = (value: unknown): value is Json => typeof value === 'object' && value !== null

function pathsOfDifferences(one: unknown, other: unknown, path: readonly string[] = []): string[] {
  if (!isJson(one) || !isJson(other)) return one === other ? [] : [path.join('.')]
  const names = new Set([...Object.keys(one), ...Object.keys(other)])
  return [...names].flatMap((name) => pathsOfDifferences(one[name], other[name], [...path, name]))
}

test('every unspent output is proven by the newest commitment, and by no other', async () => {
  const ask = (filter: string) =>
    askBothWays(
      started.world.gateway.url,
      `{ newest: milestones(first: 1) { nodes { commitmentId } }
        outputs(first: 400, filter: { isSpent: ${filter} }) { nodes { outputId
          unspentProof { commitmentId commitment roots beside } } } }`,
    )
  const { data, errors } = await ask('false')
  expect(errors).toBeUndefined()
  const { nodes } = data.outputs
  // So many that the trie has pages of pages.
  expect(nodes.length).toBeGreaterThan(100)
  for (const { outputId, unspentProof } of nodes) {
    const check = checkUnspent(outputId, unspentProof)
    expect(check.verdict, outputId).toBe('COMMITTED')
    expect(check.commitmentId).toBe(data.newest.nodes[0].commitmentId)
  }
  const spent = (await ask('true')).data.outputs.nodes
  expect(spent.length).toBeGreaterThan(0)
  expect(spent.every(({ unspentProof }: { unspentProof: unknown }) => unspentProof === null)).toBe(
    true,
  )
})

describe('in one request', () => {
  test('home tells how the ledger stands and what was new', async () => {
    const { status, activity, milestones, transactions } = await page('home')
    expect(status).toMatchObject({ committed: { slot: variables.slot }, mode: 'EMBEDDED' })
    expect(activity.length).toBeGreaterThan(0)
    expect(milestones.nodes[0].index).toBe(variables.slot)
    expect(transactions.nodes[0].changes.length).toBeGreaterThan(0)
  })

  test('a milestone has its blocks, transactions and updates', async () => {
    const { milestone } = await page('milestone')
    expect(milestone.previous.index).toBe(milestone.index - 1)
    expect(milestone.next.index).toBe(milestone.index + 1)
    expect(milestone.transactions.nodes.length).toBe(Math.min(20, milestone.transactionCount))
    expect(milestone.blocks.nodes.length).toBe(Math.min(20, milestone.blockCount))
    expect(milestone.updates.nodes.length).toBe(Math.min(20, Number(milestone.updateCount)))
  })

  test('a block leads to its transaction, its milestone and its parents', async () => {
    const { block } = await page('block')
    const { transactionId } = block.transaction
    expect(transactionId).toBe(variables.transaction.id)
    expect(block.milestone.index).toBe(block.slot)
    expect(block.parents.length).toBeGreaterThan(0)
    expect(block.issuer.accountId).toBe(block.issuerId)
    expect(block.fields).toContainEqual({
      ...{ path: 'header.networkId', type: 'UInt64', offset: 1, length: 8 },
      about: 'first 8 bytes of the hash of the network name',
      value: block.content.header.networkId,
    })
  })

  test('a transaction shows what it spent, what it made and who gained', async () => {
    const { transaction } = await page('transaction')
    const made = started.world.outputs.filter(
      ({ outputId }) => transactionOf(outputId) === transaction.transactionId,
    )
    expect(
      transaction.outputs.map(({ outputId }: { outputId: string }) => outputId).sort(),
    ).toEqual(made.map(({ outputId }) => outputId).sort())
    const sum = (side: 'inputs' | 'outputs') =>
      transaction[side].reduce(
        (all: bigint, one: { amount: string }) => all + BigInt(one.amount),
        0n,
      )
    expect(sum('inputs')).toBe(sum('outputs'))
    expect(transaction.milestone.index).toBe(transaction.slot)
    expect(transaction.fields[0]).toMatchObject({ path: '', offset: 0 })
    expect(2 + 2 * transaction.fields[0].length).toBe(transaction.bytes.length)
    const { passedRules, mana } = transaction.examination
    expect(passedRules).toHaveLength(11)
    expect(mana.byInput).toHaveLength(transaction.inputs.length)
    expect(BigInt(mana.inputs)).toBeGreaterThanOrEqual(BigInt(mana.outputs))
  })

  test('every transaction that was accepted holds to all rules when it is examined later', async () => {
    const { data, errors } = await graphql(
      started.world.gateway.url,
      `{ transactions(first: 200) { nodes { transactionId examination { passedRules brokenRule mana { inputs outputs } } } } }`,
    )
    expect(errors).toBeUndefined()
    const { nodes } = data.transactions
    expect(nodes.length).toBeGreaterThan(100)
    for (const { examination, transactionId } of nodes) {
      expect(examination?.passedRules.length, transactionId).toBe(11)
      expect(examination.brokenRule).toBeNull()
    }
  })

  test('an address has its balance, its chains and its history', async () => {
    const { address } = await page('address')
    expect(address.bech32).toBe(variables.address.address)
    expect(address.updates.nodes.length).toBe(Math.min(20, Number(address.updates.totalCount)))
    const unspent = address.unspentOutputs.nodes as readonly { readonly amount: string }[]
    if (unspent.length < 10) {
      const sum = unspent.reduce((all, { amount }) => all + BigInt(amount), 0n)
      expect(sum).toBe(BigInt(address.balance.total))
    }
  })

  test('an account has its entry, its address, its blocks and its states', async () => {
    const { account } = await page('account')
    const key = addressKey({ type: 8, accountId: issuer.accountId })
    expect(account.address.bech32).toBe(encodeBech32('tst', hexToBytes(key)))
    expect(account.entry.keyHashes.length).toBe(1)
    expect(account.history.nodes.length).toBe(Number(account.history.totalCount))
  })

  test('an NFT and a token have their history, a token its holders', async () => {
    const { nft } = await page('nft')
    expect(nft).toMatchObject({ nftId: variables.nft.id, isDestroyed: false })
    const states = started.chains.find(({ id }) => id === nft.nftId)?.states
    expect(nft.history.totalCount).toBe(`${states?.length}`)
    const { token } = await page('token')
    expect(BigInt(token.circulatingSupply)).toBe(
      BigInt(token.mintedTokens) - BigInt(token.meltedTokens),
    )
    const shares = token.holders.nodes as readonly { readonly amount: string }[]
    expect(shares.every(({ amount }) => BigInt(amount) > 0n)).toBe(true)
  })

  test('validators and their committee, and what a text names', async () => {
    const { epoch, validators } = await page('validators')
    expect(validators.nodes.length).toBeGreaterThan(0)
    expect(epoch.committee.members.length).toBeGreaterThan(0)
    const { search } = await page('search')
    expect(search.hits).toContainEqual({
      match: 'ID_BEGINNING',
      thing: { __typename: 'Nft', chainId: variables.nft.id, isDestroyed: false },
    })
  })
})

test('the next committee is there from its choice on, before its epoch begins', async () => {
  const { gateway } = started.world
  const members = 'members { accountId poolStake validatorStake fixedCost }'
  const document = `{ former: epoch(index: 1) { nextCommittee { ${members} } }
    epoch { index isOver committee { ${members} } nextCommittee { ${members} } } }`
  const { data: early } = await askBothWays(gateway.url, document)
  expect(early.former.nextCommittee).toEqual(early.epoch.committee)
  expect(early.epoch).toMatchObject({ index: 2, isOver: false, nextCommittee: null })
  await started.world.pass(44)
  const { data: late } = await askBothWays(gateway.url, document)
  expect(late.epoch).toMatchObject({ index: 2, isOver: false })
  expect(late.epoch.nextCommittee.members.length).toBeGreaterThan(0)
})
