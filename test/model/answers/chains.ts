import { chainId } from '../../../src/ledger/chains.ts'
import { featureOf } from '../../../src/ledger/output-parts.ts'
import { NativeToken } from '../../../src/protocol/features.ts'
import { balancesAt, ownerInSlot, unspentAt } from '../../support/balance-model.ts'
import { chainStates, inBookedOrder } from '../holdings.ts'
import type { BookedOutput } from '../stored-ledger.ts'
import { type Asking, askEach, some, textOf } from './ask.ts'
import { comparePages } from './pages.ts'

/** The lists of chains by their kind, with the type code of their outputs and the field of their id. */
const lists = [
  { field: 'accounts', type: 1, id: 'accountId', owned: undefined },
  { field: 'anchors', type: 2, id: 'anchorId', owned: undefined },
  { field: 'tokens', type: 3, id: 'tokenId', owned: 'foundries' },
  { field: 'nfts', type: 4, id: 'nftId', owned: 'nfts' },
  { field: 'delegations', type: 5, id: 'delegationId', owned: 'delegations' },
] as const

/** Compares chains: their lists and those of their owners, their histories, and the holders of tokens. */
export async function compareChains(asking: Asking): Promise<void> {
  const { model, random } = asking
  const { committed, parameters } = model.ledger
  const alive = inBookedOrder(unspentAt(model.outputs, committed))
  const idOf = ({ output, outputId }: BookedOutput) => `${chainId(output, outputId)}`
  for (const { field, type, id, owned } of lists) {
    const all = alive.filter(({ output }) => output.type === type)
    const common = { node: id, textOf: (node: Record<string, string>) => node[id] ?? '' }
    await comparePages(asking, {
      ...common,
      what: field,
      oldest: all.map(idOf),
      query: (args, selection) => `{ ${field}${args} ${selection} }`,
    })
    if (owned === undefined) continue
    const owner = ({ output }: BookedOutput) =>
      ownerInSlot(output, committed, parameters.minCommittableAge)
    for (const address of some(random, [...new Set(all.map(owner))], 2)) {
      const name = textOf(parameters.bech32Hrp, address)
      await comparePages(asking, {
        ...common,
        what: `${owned} of ${name}`,
        oldest: all.filter((one) => owner(one) === address).map(idOf),
        query: (args, selection) =>
          `{ address(address: "${name}") { ${owned}${args} ${selection} } }`,
      })
    }
  }
  await compareHistories(asking)
  await compareTokens(asking)
}

async function compareHistories(asking: Asking): Promise<void> {
  const { model, random, url, differ } = asking
  const { begunIn = -1 } = model.kept
  const chains = [...chainStates(model.ledger, model.outputs)]
    .map(([id, states]) => {
      const known = states.filter(({ spentSlot = Number.POSITIVE_INFINITY }) => spentSlot > begunIn)
      return { id, states: known, unknown: states.length - known.length }
    })
    .filter(({ states }) => states.length > 0)
  for (const { id, states, unknown } of some(random, chains, 8)) {
    await comparePages(asking, {
      what: `history of chain ${id}`,
      oldest: states.map(
        ({ outputId, bookedSlot }, i) => `${unknown + i + 1} ${bookedSlot} ${outputId}`,
      ),
      total: unknown + states.length,
      node: 'number milestoneIndex outputId',
      textOf: ({ number, milestoneIndex, outputId }) => `${number} ${milestoneIndex} ${outputId}`,
      query: (args, selection) =>
        `{ output(id: "${states[0]?.outputId}") { chain { history${args} ${selection} } } }`,
    })
  }
  const answers = await askEach(
    url,
    chains,
    ({ states }) => `output(id: "${states[0]?.outputId}") { chain { chainId isDestroyed destroyedBy
      destroyedSlot output { outputId } lastOutput { outputId } } }`,
  )
  for (const [i, { id, states }] of chains.entries()) {
    const last = states.at(-1)
    const isDestroyed = last?.spentSlot !== undefined
    const output = last === undefined ? null : { outputId: last.outputId }
    differ.equal(`chain ${id}`, answers[i].chain, {
      ...{ chainId: id, isDestroyed, output: isDestroyed ? null : output, lastOutput: output },
      ...{ destroyedBy: last?.spentBy ?? null, destroyedSlot: last?.spentSlot ?? null },
    })
  }
}

/** The supply of tokens, and their holders: the largest amount first, then by descending address. */
async function compareTokens(asking: Asking): Promise<void> {
  const { model, random, url, differ } = asking
  const { committed, parameters } = model.ledger
  const alive = unspentAt(model.outputs, committed)
  const tokens = new Set(alive.flatMap(({ output }) => featureOf(output, NativeToken)?.id ?? []))
  const balances = balancesAt(model.outputs, committed, parameters.minCommittableAge)
  for (const token of some(random, [...tokens], 3)) {
    const held = [...balances].flatMap(([address, { tokens: own }]) => {
      const parts = own[token]
      if (parts === undefined) return []
      return [{ address, amount: parts.available + parts.timelocked + parts.expiring }]
    })
    held.sort((a, b) => Number(b.amount - a.amount) || (a.address < b.address ? 1 : -1))
    const [answer] = await askEach(
      url,
      [token],
      () => `token(id: "${token}") { circulatingSupply
        holders(first: 1000) { nodes { address { bech32 } amount } } }`,
    )
    const foundry = alive.find(
      (one) => one.output.type === 3 && chainId(one.output, one.outputId) === token,
    )
    const scheme = foundry?.output.type === 3 ? foundry.output.tokenScheme : undefined
    differ.equal(
      `holders of ${token}`,
      answer.holders.nodes,
      held.map(({ address, amount }) => ({
        address: { bech32: textOf(parameters.bech32Hrp, address) },
        amount: `0x${amount.toString(16)}`,
      })),
    )
    if (scheme === undefined) continue
    const supply = scheme.mintedTokens - scheme.meltedTokens
    differ.equal(`supply of ${token}`, answer.circulatingSupply, `0x${supply.toString(16)}`)
  }
}
