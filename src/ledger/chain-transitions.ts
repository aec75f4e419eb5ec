import type { AccountId } from '../protocol/primitives.ts'
import type { InputChain, OutputChain } from './chains.ts'
import type { TransactionError } from './transaction-error.ts'
import { accountBegins, accountChanges, accountEnds } from './transitions/account.ts'
import { anchorBegins, anchorChanges, anchorEnds } from './transitions/anchor.ts'
import { delegationBegins, delegationChanges, delegationEnds } from './transitions/delegation.ts'
import { foundryBegins, foundryChanges, foundryEnds } from './transitions/foundry.ts'
import { implicitAccountChanges, implicitAccountEnds } from './transitions/implicit-account.ts'
import { nftBegins, nftChanges, nftEnds } from './transitions/nft.ts'
import type { WorkingSet } from './working-set.ts'

/** Every chain goes on, ends or begins by the rules of its kind (ledger reference 6). */

/** First the chains that are spent in the order of the inputs, then those that begin in the order of the outputs. */
export function chainsTransition(set: WorkingSet): TransactionError | undefined {
  const { inputs, outputs, inputByKey, outputByKey } = set.chains
  for (const chain of inputs) {
    const next = outputByKey.get(chain.key)
    const broken = next === undefined ? ends(set, chain) : changes(set, chain, next)
    if (broken !== undefined) return broken
  }
  for (const chain of outputs) {
    if (chain.key !== undefined && inputByKey.has(chain.key)) continue
    const broken = begins(set, chain)
    if (broken !== undefined) return broken
  }
  return undefined
}

/** Both sides are of one kind, for the kind is part of the key. */
function changes(
  set: WorkingSet,
  { input, state: before }: InputChain,
  { output, state: after }: OutputChain,
): TransactionError | undefined {
  const place = { input, output }
  switch (after.type) {
    case 1:
      if (before.type === 0) return implicitAccountChanges(set, { ...place, before, after })
      if (before.type === 1) return accountChanges(set, { ...place, before, after })
      break
    case 2:
      if (before.type === 2) return anchorChanges({ ...place, before, after })
      break
    case 3:
      if (before.type === 3) return foundryChanges(set, { ...place, before, after })
      break
    case 4:
      if (before.type === 4) return nftChanges({ ...place, before, after })
      break
    case 5:
      if (before.type === 5) return delegationChanges(set, { ...place, before, after })
      break
  }
  throw new Error('assertion failed: a chain changed its kind')
}

function ends(set: WorkingSet, { input, id, state }: InputChain): TransactionError | undefined {
  switch (state.type) {
    case 0:
      return implicitAccountEnds(input)
    case 1:
      return accountEnds(set, { input, state }, id as AccountId)
    case 2:
      return anchorEnds(set, { input, state })
    case 3:
      return foundryEnds(set, { input, state })
    case 4:
      return nftEnds(set, { input, state })
    case 5:
      return delegationEnds(set, { input, state })
  }
}

function begins(set: WorkingSet, { output, state }: OutputChain): TransactionError | undefined {
  switch (state.type) {
    case 1:
      return accountBegins(set, { output, state })
    case 2:
      return anchorBegins(set, { output, state })
    case 3:
      return foundryBegins(set, { output, state })
    case 4:
      return nftBegins(set, { output, state })
    case 5:
      return delegationBegins(set, { output, state })
  }
}
