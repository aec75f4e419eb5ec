import {
  type Balance,
  moveBalance,
  moveTokens,
  noBalance,
  noTokens,
  type TokenBalance,
} from '../../ledger/balances-of-address.ts'
import { holdingAt } from '../../ledger/holdings.ts'
import { updateClasses } from '../../ledger/updates.ts'
import type { Hex } from '../../lib/hex.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import type { FoundryId, OutputId, SlotIndex } from '../../protocol/primitives.ts'
import type { OwnedTokens } from '../../store/contract/view.ts'
import { comparePositions } from '../../store/positions.ts'
import type { MilestoneNotCommitted } from '../feed/follow-milestones.ts'
import {
  type KeysetList,
  type PageArguments,
  type Paged,
  readKeysetPage,
} from '../lists/keyset-page.ts'
import { allBookings, bookingPosition, outputCursors } from '../lists/list-outputs.ts'
import { type OutputView, readOutputs } from '../outputs/read-output.ts'
import type { Services } from '../services.ts'
import type { UpdatesNotKept } from '../slots/explorer-lists.ts'

/** The balance, tokens and outputs of an address at the end of a former milestone, computed from its updates. */

/** The holdings of an address at the end of a milestone. */
export interface AddressAsOf {
  readonly slot: SlotIndex
  readonly balance: Balance
  /** Native tokens, by token id. */
  readonly tokens: readonly OwnedTokens[]
  /** Unspent outputs that the address owned, by booking slot, then by output id. */
  readonly outputs: readonly OutputView[]
}

/** Maximum number of updates that are read. */
export const asOfUpdateLimit = 10_000

/** The address has more updates up to the milestone than `asOfUpdateLimit`. */
export interface AddressHistoryTooLong {
  readonly code: 'ADDRESS_HISTORY_TOO_LONG'
  readonly updates: number
  readonly limit: number
}

/** Why the holdings cannot be computed. */
export type AsOfError = MilestoneNotCommitted | UpdatesNotKept | AddressHistoryTooLong

/** Reads the holdings of an address; empty before the genesis. Rejects when the signal fires. */
export async function readAddressAsOf(
  services: Pick<Services, 'store' | 'parameters'>,
  { address, slot }: { readonly address: Hex; readonly slot: SlotIndex },
  signal: AbortSignal,
): Promise<Result<AddressAsOf, AsOfError>> {
  const { read } = services.store
  const milestone = await read.milestone(slot)
  if (milestone === undefined) {
    if (slot < services.parameters.genesisSlot) {
      return ok(ownedBy([], { address, slot, reached: slot }))
    }
    const { slot: newest } = await read.latestMilestone()
    // A ledger that began with a snapshot has no milestones of most earlier slots.
    if (slot <= newest) return err({ code: 'UPDATES_NOT_KEPT', slot })
    const argument = 'milestoneIndex'
    return err({ code: 'MILESTONE_NOT_COMMITTED', argument, milestoneIndex: slot, newest })
  }
  const before = milestone.lastSeq + 1
  const refused = await refusalOf(read, { address, before })
  if (refused !== undefined) return err(refused)
  const outputIds = await unspentIds(read, { address, before }, signal)
  const outputs: OutputView[] = []
  for (let n = 0; n < outputIds.length; n += batchSize) {
    signal.throwIfAborted()
    outputs.push(...(await readOutputs(services, outputIds.slice(n, n + batchSize))))
  }
  const reached = slot + services.parameters.minCommittableAge
  return ok(ownedBy(outputs, { address, slot, reached }))
}

type Read = Services['store']['read']

async function refusalOf(
  read: Read,
  { address, before }: { readonly address: Hex; readonly before: number },
): Promise<UpdatesNotKept | AddressHistoryTooLong | undefined> {
  let updates = 0
  for (const one of updateClasses) {
    const pruned = await read.prunedTip(address, one)
    if (pruned !== undefined) return { code: 'UPDATES_NOT_KEPT', slot: pruned.milestoneIndex }
    const newest = { after: 0, before, limit: 1, order: 'descending' } as const
    const [last] = await read.updates({ ...newest, address, classes: [one] })
    updates += last?.ordinal ?? 0
  }
  const limit = asOfUpdateLimit
  return updates > limit ? { code: 'ADDRESS_HISTORY_TOO_LONG', updates, limit } : undefined
}

/**
 * Ids of the outputs that were created and not spent. The row that spends an expired output has another class than the row
 * that creates it, under the same address.
 */
async function unspentIds(
  read: Read,
  { address, before }: { readonly address: Hex; readonly before: number },
  signal: AbortSignal,
): Promise<readonly OutputId[]> {
  const unspent = new Set<OutputId>()
  let after = 0
  for (;;) {
    signal.throwIfAborted()
    const page = { after, before, limit: batchSize, order: 'ascending' } as const
    const rows = await read.updates({ ...page, address, classes: updateClasses })
    for (const { outputId, isSpent } of rows) {
      if (isSpent) unspent.delete(outputId)
      else unspent.add(outputId)
    }
    if (rows.length < batchSize) return [...unspent]
    after = rows.at(-1)?.seq ?? before
  }
}

/** A page of the outputs that an address owned. */
export function listOutputsAsOf(
  { outputs }: Pick<AddressAsOf, 'outputs'>,
  args: PageArguments,
): Paged<OutputView> {
  const list: KeysetList<OutputView> = {
    cursors: outputCursors,
    whole: allBookings,
    positionOf: bookingPosition,
    read: async ({ above, below }, { order, limit }) => {
      const inside = outputs.filter(
        (one) =>
          comparePositions(bookingPosition(one), above) > 0 &&
          comparePositions(bookingPosition(one), below) < 0,
      )
      return (order === 'ascending' ? inside : inside.reverse()).slice(0, limit)
    },
  }
  return readKeysetPage(list, args)
}

/** Number of rows or outputs that are processed in one turn of the event loop. */
const batchSize = 500

/** Selects the outputs that the address owned from outputs that have it in any role, and sums them up. */
function ownedBy(
  outputs: readonly OutputView[],
  {
    address,
    slot,
    reached,
  }: { readonly address: Hex; readonly slot: SlotIndex; readonly reached: SlotIndex },
): AddressAsOf {
  let balance = noBalance
  const tokens = new Map<FoundryId, TokenBalance>()
  const owned: OutputView[] = []
  for (const view of outputs) {
    const holding = holdingAt(view.output(), reached)
    if (holding.owner !== address) continue
    owned.push(view)
    const move = { slot, sign: 1, holding, cause: 'LEDGER' } as const
    balance = moveBalance(balance, move)
    const { token } = holding
    if (token === undefined) continue
    tokens.set(token.tokenId, moveTokens(tokens.get(token.tokenId) ?? noTokens, move))
  }
  return {
    slot,
    balance,
    tokens: [...tokens]
      .map(([tokenId, of]) => ({ tokenId, balance: of }))
      .sort((a, b) => (a.tokenId < b.tokenId ? -1 : 1)),
    outputs: owned.sort((a, b) => comparePositions(bookingPosition(a), bookingPosition(b))),
  }
}
