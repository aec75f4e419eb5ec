import { chainId } from '../../../src/ledger/chains.ts'
import { inputIds } from '../../../src/ledger/resolve.ts'
import type { Hex } from '../../../src/lib/hex.ts'
import { addressKey, transactionOf } from '../../../src/protocol/ids.ts'
import { ownerInSlot } from '../../support/balance-model.ts'
import { inBookedOrder, isChain } from '../holdings.ts'
import { groupBy } from '../lists.ts'
import type { BookedOutput, StoredBlock } from '../stored-ledger.ts'
import { type Asking, askEach, keptBlocks, some, textOf } from './ask.ts'
import { comparePages } from './pages.ts'

/** Compares blocks, transactions, outputs, chains and milestones, and what leads from one of them to another. */
export async function compareLedger(asking: Asking): Promise<void> {
  await compareBlocks(asking)
  await compareTransactions(asking)
  await compareOutputs(asking)
  await compareMilestones(asking)
  await compareSearch(asking)
}

/** By issuing time and then by arrival. */
function inOrder(blocks: readonly StoredBlock[]): StoredBlock[] {
  return blocks.toSorted(
    (a, b) =>
      a.slot - b.slot ||
      Number(a.block.header.issuingTime - b.block.header.issuingTime) ||
      a.arrival - b.arrival,
  )
}

const blockList = {
  node: 'blockId',
  textOf: ({ blockId }: { readonly blockId: string }) => blockId,
}

async function compareBlocks(asking: Asking): Promise<void> {
  const { model, random, url, differ } = asking
  const blocks = keptBlocks(model)
  const ids = (list: readonly StoredBlock[]) => list.map(({ blockId }) => blockId)
  await comparePages(asking, {
    ...blockList,
    what: 'blocks',
    oldest: ids(inOrder(blocks)),
    query: (args, selection) => `{ blocks${args} ${selection} }`,
  })
  const issuers = [...new Set(blocks.map(({ issuerId }) => issuerId))]
  for (const issuerId of some(random, issuers, 2)) {
    await comparePages(asking, {
      ...blockList,
      what: `blocks of issuer ${issuerId}`,
      oldest: ids(inOrder(blocks.filter((one) => one.issuerId === issuerId))),
      query: (args, selection) =>
        `{ blocks${args.replace('(', `(filter: { issuerId: "${issuerId}" }, `)} ${selection} }`,
    })
  }
  const ofKinds: readonly [filter: string, isIn: (one: StoredBlock) => boolean][] = [
    ['kind: VALIDATION', ({ isValidation }) => isValidation],
    ['payload: CANDIDACY', ({ isCandidacy }) => isCandidacy],
    ['payload: TRANSACTION', ({ signed }) => signed !== undefined],
    [
      'state: FINALIZED, fromMilestone: 75, toMilestone: 90',
      ({ slot }) => slot >= 75 && slot <= 90,
    ],
  ]
  for (const [filter, isIn] of ofKinds) {
    await comparePages(asking, {
      ...blockList,
      what: `blocks with ${filter}`,
      oldest: ids(inOrder(blocks.filter(isIn))),
      query: (args, selection) =>
        `{ blocks${args.replace('(', `(filter: { ${filter} }, `)} ${selection} }`,
    })
  }
  const parentsOf = ({ block: { body } }: StoredBlock) => [
    ...[...body.strongParents].sort(),
    ...[...body.weakParents].sort(),
    ...[...body.shallowLikeParents].sort(),
  ]
  for (const { blockId } of some(random, blocks, 2)) {
    await comparePages(asking, {
      ...blockList,
      what: `children of ${blockId}`,
      oldest: ids(blocks.filter((one) => parentsOf(one).includes(blockId))),
      query: (args, selection) => `{ block(id: "${blockId}") { children${args} ${selection} } }`,
    })
  }
  const chosen = some(random, blocks, 40)
  const answers = await askEach(
    url,
    chosen,
    ({ blockId }) =>
      `block(id: "${blockId}") { blockId state slot issuerId parents { blockId }
        transaction { transactionId } milestone { index } }`,
  )
  for (const [i, one] of chosen.entries()) {
    const isCommitted = one.slot <= model.ledger.committed
    differ.equal(`block ${one.blockId}`, answers[i], {
      ...{ blockId: one.blockId, slot: one.slot, issuerId: one.issuerId, state: one.state },
      // A pruned parent is left with its id alone.
      parents: parentsOf(one).map((blockId) => ({ blockId })),
      transaction: one.transactionId === undefined ? null : { transactionId: one.transactionId },
      milestone: isCommitted ? { index: one.slot } : null,
    })
  }
}

async function compareTransactions(asking: Asking): Promise<void> {
  const { model, random, url, differ } = asking
  const { blocks, parameters } = model.ledger
  const accepted = [...model.acceptedById].sort(
    ([a, one], [b, other]) => one.slot - other.slot || (a < b ? -1 : 1),
  )
  await comparePages(asking, {
    what: 'accepted transactions',
    oldest: accepted.map(([id]) => id),
    node: 'transactionId',
    textOf: ({ transactionId }) => transactionId,
    query: (args, selection) =>
      `{ transactions${args.replace('(', '(filter: { state: FINALIZED }, ')} ${selection} }`,
  })
  const carriers = groupBy(blocks, ({ transactionId }) => transactionId)
  const chosen = some(random, [...model.verdicts], 40)
  const answers = await askEach(
    url,
    chosen,
    ([id]) => `transaction(id: "${id}") { state slot failure { code } milestone { index }
      inputs { outputId } outputs { outputId } allotments: content { transaction { allotments { accountId mana } } }
      changes { address { bech32 } sent received }
      carriers(first: 1000, sort: OLDEST) { nodes { blockId } } }`,
  )
  for (const [i, [id, verdict]] of chosen.entries()) {
    const own = carriers.get(id) ?? []
    const transaction = own[0]?.signed?.transaction
    if (transaction === undefined) continue
    const isAccepted = verdict.state === 'ACCEPTED'
    const {
      state,
      slot,
      failure,
      milestone,
      inputs,
      outputs,
      changes,
      carriers: listed,
      allotments,
    } = answers[i]
    const actual = {
      ...{ state, inputs: idsOf(inputs), allotments: allotments.transaction.allotments },
      ...(isAccepted && { slot, milestone, outputs: idsOf(outputs), changes: changes.map(flat) }),
      hasFailure: failure !== null,
      carriers: listed.nodes.map(blockList.textOf),
    }
    const spent = inputIds(transaction).filter((input) => model.outputById.has(input))
    const created = model.outputs.filter(({ outputId }) => transactionOf(outputId) === id)
    differ.equal(`transaction ${id}`, actual, {
      state: isAccepted ? 'FINALIZED' : 'FAILED',
      inputs: spent,
      allotments: transaction.allotments.map(({ accountId, mana }) => {
        return { accountId, mana: `${mana}` }
      }),
      ...(isAccepted && {
        slot: verdict.slot,
        milestone: { index: verdict.slot },
        outputs: inIndexOrder(created).map(({ outputId }) => outputId),
        changes: changesOf(
          spent.flatMap((one) => model.outputById.get(one) ?? []),
          created,
        ),
      }),
      hasFailure: !isAccepted,
      carriers: inOrder(own).map(({ blockId }) => blockId),
    })

    /** What each owner sent and received, in the order of inputs and then outputs. */
    function changesOf(from: readonly BookedOutput[], to: readonly BookedOutput[]) {
      const sums = new Map<Hex, { sent: bigint; received: bigint }>()
      const add = (list: readonly BookedOutput[], side: 'sent' | 'received') => {
        for (const { output } of list) {
          const owner = ownerInSlot(output, verdict.slot, parameters.minCommittableAge)
          const sum = sums.get(owner) ?? { sent: 0n, received: 0n }
          sums.set(owner, sum)
          sum[side] += output.amount
        }
      }
      add(from, 'sent')
      add(inIndexOrder(to), 'received')
      return [...sums].map(([owner, { sent, received }]) => ({
        address: textOf(parameters.bech32Hrp, owner),
        ...{ sent: `${sent}`, received: `${received}` },
      }))
    }
  }
}

interface AnsweredChange {
  readonly address: { readonly bech32: string }
  readonly sent: string
  readonly received: string
}

function flat({ address, sent, received }: AnsweredChange) {
  return { address: address.bech32, sent, received }
}

function idsOf(list: readonly { readonly outputId: string }[]): string[] {
  return list.map(({ outputId }) => outputId)
}

/** The index is the last two bytes of the id, the lower one first. */
function inIndexOrder(outputs: readonly BookedOutput[]): BookedOutput[] {
  const index = ({ outputId }: BookedOutput) =>
    Number.parseInt(outputId.slice(-2) + outputId.slice(-4, -2), 16)
  return outputs.toSorted((a, b) => index(a) - index(b))
}

/** Where an output comes from, and where it went. */
async function compareOutputs(asking: Asking): Promise<void> {
  const { model, random, url, differ } = asking
  const { parameters, committed } = model.ledger
  await comparePages(asking, {
    what: 'outputs',
    oldest: inBookedOrder(model.outputs).map(({ outputId }) => outputId),
    node: 'outputId',
    textOf: ({ outputId }) => outputId,
    query: (args, selection) => `{ outputs${args} ${selection} }`,
  })
  const spent = model.outputs
    .filter(({ spentSlot }) => spentSlot !== undefined && spentSlot <= committed)
    .toSorted(
      (a, b) => (a.spentSlot ?? 0) - (b.spentSlot ?? 0) || (a.outputId < b.outputId ? -1 : 1),
    )
  await comparePages(asking, {
    what: 'spent outputs',
    oldest: spent.map(({ outputId }) => outputId),
    node: 'outputId',
    textOf: ({ outputId }) => outputId,
    query: (args, selection) =>
      `{ outputs${args.replace('(', '(filter: { isSpent: true }, ')} ${selection} }`,
  })
  const chosen = some(random, model.outputs, 60)
  const answers = await askEach(
    url,
    chosen,
    ({
      outputId,
    }) => `output(id: "${outputId}") { amount bookedSlot isSpent spentSlot spentBy blockId
      transactionId spendingTransaction { transactionId } milestone { index }
      spentMilestone { index } owner { bech32 } chain { chainId } }`,
  )
  for (const [i, one] of chosen.entries()) {
    const { outputId, output, bookedSlot, spentSlot, spentBy } = one
    const slot = spentSlot ?? Math.max(committed, bookedSlot)
    const owner = ownerInSlot(output, slot, parameters.minCommittableAge)
    differ.equal(`output ${outputId}`, answers[i], {
      ...{ amount: `${output.amount}`, bookedSlot, isSpent: spentSlot !== undefined },
      ...{ spentSlot: spentSlot ?? null, spentBy: spentBy ?? null },
      blockId: one.blockId,
      transactionId: transactionOf(outputId),
      spendingTransaction: spentBy === undefined ? null : { transactionId: spentBy },
      milestone: bookedSlot <= committed ? { index: bookedSlot } : null,
      spentMilestone:
        spentSlot !== undefined && spentSlot <= committed ? { index: spentSlot } : null,
      owner: { bech32: textOf(parameters.bech32Hrp, owner) },
      chain: isChain(output) ? { chainId: chainId(output, outputId) } : null,
    })
  }
}

async function compareMilestones(asking: Asking): Promise<void> {
  const { model, random, url, differ } = asking
  const { commitments, blocksOfSlot } = model.ledger
  const isKept = ({ blockId }: StoredBlock) => model.kept.blocks.has(blockId)
  const slots = [...commitments.keys()]
  await comparePages(asking, {
    what: 'milestones',
    oldest: slots.map((slot) => `${slot} ${commitments.get(slot)?.id}`),
    node: 'index commitmentId',
    textOf: ({ index, commitmentId }) => `${index} ${commitmentId}`,
    query: (args, selection) => `{ milestones${args} ${selection} }`,
  })
  const chosen = some(
    random,
    slots.filter((slot) => model.kept.after === 0 || slot >= model.kept.from),
    30,
  )
  const answers = await askEach(
    url,
    chosen,
    (slot) => `milestone(index: ${slot}) { updateCount blockCount transactionCount
      updates(first: 1000, sort: OLDEST) { nodes { seq } }
      blocks(first: 1000, sort: OLDEST) { nodes { blockId } } }`,
  )
  for (const [i, slot] of chosen.entries()) {
    const rows = model.rows.filter((row) => row.milestoneIndex === slot)
    const all = blocksOfSlot(slot)
    const blocks = inOrder(all.filter(isKept))
    const inSlot = [...model.acceptedById.values()].filter((one) => one.slot === slot)
    differ.equal(`milestone ${slot}`, answers[i], {
      ...{ updateCount: `${rows.length}`, blockCount: all.length },
      transactionCount: inSlot.length,
      updates: { nodes: rows.map(({ seq }) => ({ seq: `${seq}` })) },
      blocks: { nodes: blocks.map(({ blockId }) => ({ blockId })) },
    })
  }
}

/** Finds everything by its id, and by the beginning of its id. */
async function compareSearch(asking: Asking): Promise<void> {
  const { model, random, url, differ } = asking
  const { commitments, parameters } = model.ledger
  const blocks = keptBlocks(model)
  const known: [text: string, type: string][] = [
    ...some(random, blocks, 4).map(({ blockId }): [string, string] => [blockId, 'Block']),
    ...some(random, [...model.verdicts.keys()], 4).map((id): [string, string] => [
      id,
      'Transaction',
    ]),
    ...some(random, model.outputs, 4).map(({ outputId }): [string, string] => [outputId, 'Output']),
    ...some(random, [...commitments], 2).map(([, { id }]): [string, string] => [id, 'Milestone']),
    ...some(random, [...commitments], 2).map(([slot]): [string, string] => [
      `${slot}`,
      'Milestone',
    ]),
    ...some(random, model.outputs, 3).map(({ output }): [string, string] => {
      const condition = output.unlockConditions.find((one) => 'address' in one)
      const key = condition !== undefined && 'address' in condition ? condition.address : undefined
      const text = key === undefined ? '' : textOf(parameters.bech32Hrp, addressKey(key))
      return [text, 'Address']
    }),
  ]
  const beginnings = known
    .filter(([text, type]) => text.startsWith('0x') && type !== 'Output')
    .map(([text, type]): [string, string] => [text.slice(0, 22), type])
  const all = [...known, ...beginnings]
  const answers = await askEach(
    url,
    all,
    ([text]) => `search(text: "${text}") { hits { thing { __typename } } }`,
  )
  for (const [i, [text, type]] of all.entries()) {
    const types: string[] = answers[i].hits.map(
      ({ thing }: { readonly thing: { readonly __typename: string } }) => thing.__typename,
    )
    differ.equal(`search for ${text}`, types.includes(type) ? type : types, type)
  }
}
