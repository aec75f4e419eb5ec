import { accountTrieChanges } from '../../ledger/accounts.ts'
import { type CommittedSlot, commitSlot, genesisCommitment } from '../../ledger/commit-slot.ts'
import { choosingSlot } from '../../ledger/committee.ts'
import { outputTrieChanges } from '../../ledger/state-root.ts'
import { emptyTrieRoot, trieSetRoot } from '../../ledger/trie.ts'
import {
  branchPage,
  changedEntries,
  hasChild,
  isBranchPage,
  leafPage,
  type Subtree,
  subtreeOf,
} from '../../ledger/trie-page.ts'
import { bytesToHex, type Hex } from '../../lib/hex.ts'
import { SlotCommitment } from '../../protocol/commitment.ts'
import { commitmentId } from '../../protocol/ids.ts'
import type { Network } from '../../protocol/network.ts'
import type { EpochIndex, SlotIndex } from '../../protocol/primitives.ts'
import { decode } from '../../protocol/schema/schema.ts'
import { epochOfSlot } from '../../protocol/slots.ts'
import type { CheckReport } from '../../store/check/findings.ts'
import type { CheckedLedger, SlotChanges } from '../../store/check/read-ledger.ts'
import type { Milestone } from '../../store/rows.ts'
import { committeeEpoch } from './state.ts'
import { depthOfPage, openStoredTries, pageBelow, topPage } from './stored-tries.ts'

/**
 * Checks the id, the predecessor and the log range of every commitment. For a ledger that this program keeps, also checks the
 * price and the roots, by committing every slot again from its booked content. Takes about 100 bytes of memory per unspent output.
 */
export async function checkCommitments(
  ledger: CheckedLedger,
  network: Network,
  report: CheckReport,
): Promise<void> {
  const replay = (await ledger.isKeptHere()) ? await createReplay(ledger, network) : undefined
  let former: Former | undefined
  for await (const milestones of ledger.milestones()) {
    const [first, last] = [milestones[0]?.slot ?? 0, milestones.at(-1)?.slot ?? 0]
    const changesOf = replay && (await ledger.contents(first, last))
    for (const milestone of milestones) {
      report.signal.throwIfAborted()
      const at = `slot ${milestone.slot}`
      const firstSeq = former === undefined ? firstSeqOf(milestone, network) : former.nextSeq
      if (milestone.firstSeq !== firstSeq || milestone.lastSeq < firstSeq - 1) {
        report.found('COMMITMENT_RANGE_WRONG', at)
      }
      const committed = decoded(milestone)
      if (committed === undefined || !follows(committed, former)) {
        report.found('COMMITMENT_WRONG', at)
      }
      const changes = changesOf?.(milestone.slot)
      const own = changes && (await replay?.commit(milestone.slot, changes, former?.committed))
      const isRight =
        own === undefined || changes?.isPruned || own.commitmentId === committed?.commitmentId
      if (committed !== undefined && !isRight) report.found('COMMITMENT_ROOTS_WRONG', at)
      if (committed !== undefined) {
        const isApart = former === undefined && milestone.slot > network.parameters.genesisSlot
        former = { committed, nextSeq: milestone.lastSeq + 1, isApart }
      }
    }
    report.advance(milestones.length)
  }
  if (replay !== undefined && former !== undefined) {
    const { slot } = former.committed.commitment
    await checkPages(ledger, { slot, roots: replay.roots() }, report)
  }
}

/** The milestone before another one. */
interface Former {
  readonly committed: CommittedSlot
  /** The position after its last one. */
  readonly nextSeq: number
  /** Whether it is the first milestone of a ledger that begins with a snapshot. It may be older than the milestones after it. */
  readonly isApart: boolean
}

/** The position of the first row of the first milestone. A ledger that begins with a snapshot begins at any position. */
function firstSeqOf({ slot, firstSeq }: Milestone, { parameters }: Network): number {
  return slot === parameters.genesisSlot ? 1 : firstSeq
}

/** The commitment of a milestone; `undefined` when its bytes or its id are wrong. */
function decoded({ bytes, commitmentId: id, slot }: Milestone): CommittedSlot | undefined {
  const commitment = decode(SlotCommitment, bytes)
  if (!commitment.ok || commitment.value.slot !== slot) return undefined
  if (commitmentId(commitment.value) !== id) return undefined
  return { commitment: commitment.value, commitmentId: id, bytes }
}

function follows({ commitment }: CommittedSlot, former: Former | undefined): boolean {
  if (former === undefined) return true
  const { slot, previousCommitmentId } = commitment
  const before = former.committed
  if (former.isApart && slot > before.commitment.slot + 1) return true
  return slot === before.commitment.slot + 1 && previousCommitmentId === before.commitmentId
}

interface TrieRoots {
  readonly outputs: Hex
  readonly accounts: Hex
}

/** Commits one slot after another from the content of the database. */
async function createReplay(ledger: CheckedLedger, network: Network) {
  const { parameters } = network
  const epochs = await ledger.committees()
  // All pages are new and stay in memory.
  const tries = openStoredTries({ triePages: async () => [] }, 0)

  function committeeOf(slot: SlotIndex): Uint8Array {
    // The next committee is known from the slot after the slot that chooses it.
    const hasEpoch = (epoch: EpochIndex) =>
      epochs.has(epoch) &&
      (epoch <= epochOfSlot(parameters, slot) || slot > choosingSlot(parameters, slot))
    return trieSetRoot(epochs.get(committeeEpoch(parameters, hasEpoch, slot)) ?? [])
  }

  async function commit(slot: SlotIndex, changes: SlotChanges, former: CommittedSlot | undefined) {
    const { blocks, transactions, created, spent, accounts } = changes
    const outputIds = {
      created: created.map(({ outputId }) => outputId),
      consumed: spent.map(({ outputId }) => outputId),
    }
    const state = await tries.update('outputs', outputTrieChanges(outputIds))
    const changed = accounts.map(({ accountId, entry }) => [accountId, entry] as const)
    const accountRoot = await tries.update('accounts', accountTrieChanges(changed))
    if (former === undefined) return genesisCommitment(parameters)
    return commitSlot(network, {
      former,
      blockIds: blocks.map(({ blockId }) => blockId),
      transactionIds: transactions.map(({ transactionId }) => transactionId),
      workScore: blocks.reduce((sum, { workScore }) => sum + workScore, 0),
      ledgerRoots: { state, accounts: accountRoot, committee: committeeOf(slot) },
    })
  }

  return {
    commit,
    roots: async (): Promise<TrieRoots> => ({
      outputs: bytesToHex(await tries.change('outputs', [])),
      accounts: bytesToHex(await tries.change('accounts', [])),
    }),
  }
}

/**
 * Checks the stored pages: each page must equal the page made from its entries or its child pages, and the top pages must have
 * the roots of the newest slot.
 */
async function checkPages(
  ledger: CheckedLedger,
  newest: { readonly slot: SlotIndex; readonly roots: Promise<TrieRoots> },
  report: CheckReport,
): Promise<void> {
  // The tries are not built yet, for example after an import.
  if ((await ledger.builtTries()) !== newest.slot) return
  const subtrees = new Map<number, Subtree>()
  for await (const pages of ledger.pagesFromLast()) {
    report.signal.throwIfAborted()
    for (const { id, bytes } of pages) {
      const below = new Map<number, Subtree>()
      if (isBranchPage(bytes)) {
        for (let digit = 0; digit < 16; digit++) {
          const child = pageBelow(id, digit)
          below.set(digit, hasChild(bytes, digit) ? subtrees.get(child) : undefined)
          subtrees.delete(child)
        }
      }
      const rebuilt = isBranchPage(bytes)
        ? branchPage(bytes, below)
        : leafPage(changedEntries(bytes, []), depthOfPage(id))
      if (Buffer.compare(rebuilt.bytes ?? new Uint8Array(), bytes) !== 0) {
        report.found('TRIE_PAGE_WRONG', `page ${id}`)
      }
      subtrees.set(id, subtreeOf(bytes))
    }
  }
  const roots = await newest.roots
  for (const trie of ['outputs', 'accounts'] as const) {
    const id = topPage(trie)
    const root = bytesToHex(subtrees.get(id)?.root ?? emptyTrieRoot)
    if (root !== roots[trie]) report.found('TRIE_PAGE_WRONG', `page ${id}, the root of ${trie}`)
  }
}
